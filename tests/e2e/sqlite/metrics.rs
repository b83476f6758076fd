//! The metrics of the file and its WAL.

use std::time::{SystemTime, UNIX_EPOCH};

use plant_store_tests::Server;

use crate::metrics::{metrics_address, scrape, series};

#[test]
fn metrics_tell_the_free_disk_and_the_checkpoint_of_the_start() {
    let server = Server::starting().with(&["--metrics", "127.0.0.1:0"]).start();
    let scrape = scrape(metrics_address(&server));
    let series = series(&scrape);
    assert!(series["plant_store_disk_free_bytes"].parse::<f64>().expect("a number") > 1e6);
    // The service makes one when it starts.
    let checkpoint = series["plant_store_last_checkpoint_timestamp_seconds"].parse::<f64>();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs_f64();
    assert!((now - checkpoint.expect("a number")).abs() < 60.0);
}
