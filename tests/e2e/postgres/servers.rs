//! One server and several hosts of a database: silent hosts, and the workers of Citus.
//!
//! `PLANT_STORE_TESTS_CITUS=1 cargo test … -- --ignored postgres::`

use plant_store_tests::postgres::{Link, Network};
use plant_store_tests::prelude::*;

use super::{TERMINATE, cluster_with_database, start};
use crate::copies::assert_copy_keeps_every_byte;

/// Starts a server with two hosts in its URL. It finds the host that takes writes.
pub fn start_with_hosts(ports: [u16; 2], store_timeout: &str) -> Server {
    let [one, other] = ports;
    let url = format!("postgres://plants@127.0.0.1:{one},127.0.0.1:{other}/plants");
    Server::starting_in(Folder::over(&url)).with(&["--store-timeout", store_timeout]).start()
}

#[test]
fn silent_host_is_skipped_at_the_start() {
    let (cluster, _) = cluster_with_database();
    let link = Link::new(&cluster);
    link.set(Network::Stalled);
    let server = start_with_hosts([link.port(), cluster.port()], "5s");
    server.create(&plant(1, "Ficus", None)).plant();
    // When the server reconnects, it does not try the silent host first.
    cluster.session("plants").execute(TERMINATE);
    server.create(&plant(2, "Fern", None)).plant();
}

/// Connecting to the silent host takes as long as the timeout of reading the tokens, and longer
/// than the timeout of a create.
#[test]
fn host_that_becomes_silent_is_skipped() {
    let (cluster, _) = cluster_with_database();
    let link = Link::new(&cluster);
    let server = start_with_hosts([link.port(), cluster.port()], "1s");
    server.create(&plant(1, "Ficus", None)).plant();
    link.set(Network::Stalled);
    let is_created = || server.create(&plant(2, "Fern", None)).status == 200;
    server.wait_until("a create by the other host", is_created);
}

#[test]
#[ignore = "needs Citus"]
fn copy_to_shards_and_back_keeps_every_byte() {
    let (_cluster, url) = cluster_with_database();
    assert_copy_keeps_every_byte(Folder::over(&url));
}

#[test]
#[ignore = "needs Citus"]
fn check_names_a_worker_that_does_not_sync() {
    let (cluster, server) = start(&[]);
    let worker = cluster.nodes().last().expect("there are two workers");
    each_row(["fsync", "full_page_writes", "synchronous_commit"], |setting| {
        worker.set(setting, "off");
        let fault = format!("{setting}=off on its worker 127.0.0.1:{}", worker.port());
        server.run("check").failed(1, &fault);
        worker.set(setting, "on");
    });
    assert!(server.run("check").succeeded().contains("is sound"));
}
