//! A plant is acknowledged only when the synchronous standby has it, however its row came to be
//! visible on the primary.

use std::thread::ScopedJoinHandle;

use plant_store_tests::postgres::Cluster;
use plant_store_tests::prelude::*;

use super::cluster_with_database;
use super::servers::start_with_hosts;

/// A primary, its standby, and a server that finds the one that takes writes.
struct Pair {
    primary: Cluster,
    standby: Cluster,
    server: Server,
}

impl Pair {
    fn start(store_timeout: &str) -> Self {
        let (primary, _) = cluster_with_database();
        let standby = primary.standby();
        let server = start_with_hosts([&primary, &standby].map(Cluster::port), store_timeout);
        // After this create, the test write of the start cannot be the commit that waits for the
        // standby.
        server.create(&plant(1000, "Fern", None)).plant();
        Self { primary, standby, server }
    }

    /// Waits until a commit of the service waits for the standby.
    fn wait_for_waiting_commit(&self) {
        let session = self.primary.session("postgres");
        wait_until(|| session.value(WAITING) == "1", || "no commit waits for the standby".into());
    }

    /// Creates the plant on a thread of its own.
    fn create<'a>(
        &self,
        scope: &'a thread::Scope<'a, '_>,
        plant: &str,
    ) -> ScopedJoinHandle<'a, Response> {
        let address = self.server.address;
        let request = self.server.post(plant);
        scope.spawn(move || Connection::open(address).exchange(&request))
    }

    fn is_on_primary(&self, id: i64) -> bool {
        is_there(&self.primary, id)
    }
}

/// Counts the commits of creates that wait for a standby. Test writes are not counted: they give up
/// after a second.
const WAITING: &str = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'
    AND application_name = 'plant-store' AND query_start < clock_timestamp() - interval '2 s'";

fn is_there(cluster: &Cluster, id: i64) -> bool {
    let count = format!("SELECT count(*) FROM plants WHERE id = {id}");
    cluster.session("plants").value(&count) == "1"
}

/// A repeat and a conflict are 503, too, because they depend on a row that the standby may not
/// have.
#[test]
fn create_is_503_while_the_standby_is_down() {
    let pair = Pair::start("1s");
    let server = &pair.server;
    let [ficus, fern] = [plant(1, "Ficus", None), plant(2, "Fern", None)];
    server.create(&ficus).plant();
    pair.standby.stop("fast");
    assert_eq!(server.create(&fern).error(), 503);
    // The cancelled wait has made the row visible.
    assert!(pair.is_on_primary(2));
    for repeated in [&fern, &ficus] {
        assert_eq!(server.create(repeated).error(), 503);
    }
    let other = plant(2, "Ivy", None);
    assert_eq!(server.create(&other).error(), 503, "a conflict depends on the same row");
    pair.standby.start_again();
    pair.primary.wait_for_standby();
    server.create(&fern).plant();
    assert_eq!(server.create(&other).error(), 409);
    assert!(is_there(&pair.standby, 2));
}

/// The restart of the primary makes a row visible whose commit was still waiting for the standby. A
/// failover to the standby then loses no acknowledged plant.
#[test]
fn uncommitted_row_after_primary_restart_is_not_acknowledged() {
    let pair = Pair::start("50s");
    pair.standby.stop("fast");
    thread::scope(|scope| {
        let created = pair.create(scope, &plant(1, "Ficus", None));
        pair.wait_for_waiting_commit();
        pair.primary.stop("immediate");
        pair.primary.start_again();
        // The row is visible, and the service retries the create.
        pair.wait_for_waiting_commit();
        assert!(pair.is_on_primary(1));
        // While the primary was down, the lease of the tokens may have expired.
        let status = || pair.server.create("{}").error();
        pair.server.wait_until("a fresh read of the tokens", || status() == 400);
        // A batch that also adds a plant waits, too.
        let added = pair.create(scope, &plant(2, "Fern", None));
        assert!(!created.is_finished() && !added.is_finished());

        pair.primary.stop("immediate");
        pair.standby.start_again();
        assert!(!is_there(&pair.standby, 1), "the standby never had it");
        pair.standby.promote();
        for answer in [created, added] {
            answer.join().expect("an answer").plant();
        }
    });
    assert!(is_there(&pair.standby, 1) && is_there(&pair.standby, 2));
}

/// The wait for the standby is cancelled, or its backend is terminated. The plant is acknowledged
/// only when the standby is back and has it.
#[test]
fn commit_with_a_cancelled_wait_is_not_acknowledged() {
    let pair = Pair::start("50s");
    let session = pair.primary.session("postgres");
    for (id, end) in [(1, "pg_cancel_backend"), (2, "pg_terminate_backend")] {
        pair.standby.stop("fast");
        thread::scope(|scope| {
            let created = pair.create(scope, &plant(id, "Ficus", None));
            pair.wait_for_waiting_commit();
            let _ = session.rows(&WAITING.replace("count(*)", &format!("{end}(pid)")));
            wait_until(|| pair.is_on_primary(id), || format!("{end} does not end the wait"));
            // The service has retried the create.
            pair.wait_for_waiting_commit();
            assert!(!created.is_finished());
            pair.standby.start_again();
            created.join().expect("an answer").plant();
        });
        assert!(is_there(&pair.standby, id));
    }
}
