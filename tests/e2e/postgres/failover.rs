//! The primary is killed under load, and its synchronous standby is promoted.

use std::time::Duration;

use plant_store_tests::postgres::Cluster;
use plant_store_tests::{Folder, Server};

use super::load::{Answer, Load, count};
use super::scene::{ANSWERS, as_owner, create_database, rounds};

/// How long a create may take: longer than a failover on a machine that has other work.
const TIMEOUT: Duration = Duration::from_secs(20);

#[test]
fn failover_under_load_loses_no_acknowledged_plant() {
    for _ in 0..rounds() {
        let primary = Cluster::start();
        create_database(&primary);
        let standby = primary.standby("s1");
        let [one, other] = [&primary, &standby].map(Cluster::port);
        let url = format!("postgres://postgres@127.0.0.1:{one},127.0.0.1:{other}/plants");
        let timeout = format!("{}s", TIMEOUT.as_secs());
        let server = Server::starting_in(Folder::over(&as_owner(&url)))
            .with(&["--store-timeout", &timeout])
            .start();
        let sent = Load::default().run("failover", &[&server], TIMEOUT, |progress| {
            progress.wait_for(ANSWERS, Answer::Created);
            primary.kill();
            standby.promote();
            progress.wait_for(ANSWERS, Answer::Created);
        });
        assert_eq!(count(&sent, Answer::Lost), 0, "the server stays");
    }
}
