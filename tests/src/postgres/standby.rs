//! Synchronous standbys: each commit of the primary waits until the standby has it.

use super::Cluster;
use super::keeper::Keeper;
use crate::events::wait_until;

impl Cluster {
    /// Starts a standby of this primary, and waits until commits wait for the standby. The name
    /// also names its replication slot: it has lower-case letters, digits and underscores.
    #[must_use]
    pub fn standby(&self, name: &str) -> Self {
        let mut keeper = Keeper::start();
        keeper.run(&format!(
            "pg_basebackup -D data -R -X stream -C -S {name} --checkpoint=fast --no-sync \
             -d 'host=127.0.0.1 port={} user=postgres application_name={name}'",
            self.port()
        ));
        // Otherwise a promoted standby could wait for a standby of its own.
        keeper.run("sed -i /^synchronous_standby_names/d data/postgresql.auto.conf");
        let standby = Self::new(keeper);
        standby.start_again();
        self.set("synchronous_standby_names", &format!("FIRST 1 ({name})"));
        self.wait_for_standby(name);
        standby
    }

    /// Waits until the standby of that name follows the primary, so that commits wait for it and
    /// succeed.
    pub fn wait_for_standby(&self, name: &str) {
        let session = self.session("postgres");
        let query = format!(
            "SELECT count(*) FROM pg_stat_replication
             WHERE application_name = '{name}' AND state = 'streaming' AND sync_state = 'sync'"
        );
        let is_there = || session.value(&query) == "1";
        wait_until(is_there, || format!("{name} does not follow:\n{}", self.log()));
    }

    /// Promotes this standby to a primary, and waits until it takes writes.
    pub fn promote(&self) {
        let session = self.session("postgres");
        assert_eq!(session.value("SELECT pg_promote()"), "t", "{}", self.log());
        assert_eq!(session.value("SELECT pg_is_in_recovery()"), "f");
    }
}
