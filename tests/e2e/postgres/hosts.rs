//! Several hosts in one URL: silent hosts, standbys and failovers.

use plant_store_tests::postgres::{Link, Network};
use plant_store_tests::{Folder, Server, plant};

use super::scene::cluster_with_database;

/// Starts a server with two hosts in its URL. It finds the host that takes writes.
pub fn start(ports: [u16; 2], store_timeout: &str) -> Server {
    let [one, other] = ports;
    let url = format!("postgres://plants@127.0.0.1:{one},127.0.0.1:{other}/plants");
    Server::starting_in(Folder::over(&url)).with(&["--store-timeout", store_timeout]).start()
}

#[test]
fn silent_host_is_skipped_at_the_start() {
    let (cluster, _) = cluster_with_database();
    let link = Link::new(&cluster);
    link.set(Network::Stalled);
    let server = start([link.port(), cluster.port()], "5s");
    server.create(&plant(1, "Ficus", None)).plant();
    // When the server reconnects, it does not try the silent host first.
    cluster.session("plants").execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'plant-store'",
    );
    server.create(&plant(2, "Fern", None)).plant();
}

/// Connecting to the silent host takes as long as the timeout of reading the tokens, and longer
/// than the timeout of a create.
#[test]
fn host_that_becomes_silent_is_skipped() {
    let (cluster, _) = cluster_with_database();
    let link = Link::new(&cluster);
    let server = start([link.port(), cluster.port()], "1s");
    server.create(&plant(1, "Ficus", None)).plant();
    link.set(Network::Stalled);
    let is_created = || server.create(&plant(2, "Fern", None)).status == 200;
    server.wait_until("a create by the other host", is_created);
}

#[test]
fn token_command_finds_the_primary_behind_a_standby() {
    let (primary, _) = cluster_with_database();
    let standby = primary.standby("s1");
    let server = start([standby.port(), primary.port()], "5s");
    server.command(&["token", "create", "ci"]);
    server.command(&["token", "revoke", "ci"]);
    assert!(!server.command(&["token", "list"]).contains("ci"));
}
