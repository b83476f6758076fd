//! The database restarts while more clients wait than may be connected.

use std::time::{Duration, Instant};

use plant_store_tests::postgres::Mode;
use plant_store_tests::{Folder, Server, amount, plant};

use super::scene::with_plants;
use crate::connections::{Crowd, count};
use crate::metrics::{get, metrics_address};

/// How soon operators get an answer, and how soon after its return the database is used again.
const SOON: Duration = Duration::from_secs(2);
const AGAIN: Duration = Duration::from_secs(5);

#[test]
fn restarted_database_is_served_again_although_clients_wait_to_be_accepted() {
    const MOST: usize = 50;
    /// How many more connections there may be.
    const FEW: usize = 4;
    let (cluster, url) = with_plants();
    let most = MOST.to_string();
    let flags = ["--metrics", "127.0.0.1:0", "--max-connections", &most];
    let server = Server::starting_in(Folder::over(&url)).with(&flags).start();
    let operators = metrics_address(&server);
    let mut early = server.connect();
    early.exchange(&server.post(&plant(0, "Ficus", None))).plant();
    let _crowd = Crowd::of(6 * MOST, server.address);
    server.wait_for_log("connection limit reached");
    let status = |target| {
        let begin = Instant::now();
        let status = get(operators, target).status;
        assert!(begin.elapsed() < SOON, "{target} took {:?}", begin.elapsed());
        status
    };
    for id in 1..=i64::try_from(amount(2, 10)).expect("fewer than 2^63") {
        cluster.stop(Mode::Fast);
        server.wait_until("the loss is noticed", || status("/ready") == 503);
        assert_eq!(status("/live"), 200);
        assert!(count(operators) <= MOST + FEW, "{} connections", count(operators));
        cluster.start_again();
        let begin = Instant::now();
        server.wait_until("the database is used again", || status("/ready") == 200);
        println!("served again after {:?}", begin.elapsed());
        assert!(begin.elapsed() < AGAIN, "{:?}", begin.elapsed());
        // The tokens that were read before the restart may just have become too old.
        let ficus = server.post(&plant(id, "Ficus", None));
        server.wait_until("a create succeeds", || early.exchange(&ficus).status == 200);
    }
}
