//! The metrics of the file and its WAL.

use plant_store_tests::Server;

use crate::metrics::{metrics_address, scrape, series};

#[test]
fn metrics_tell_the_size_of_the_store_and_the_free_disk() {
    let server = Server::starting().with(&["--metrics", "127.0.0.1:0"]).start();
    let address = metrics_address(&server);
    for (name, least) in [("plant_store_store_bytes", 1e4), ("plant_store_disk_free_bytes", 1e6)] {
        server.wait_until(name, || {
            let scrape = scrape(address);
            series(&scrape).get(name).is_some_and(|value| value.parse::<f64>().unwrap() > least)
        });
    }
}
