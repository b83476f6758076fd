//! Several hosts in one URL, and what changes on them.

use plant_store_tests::postgres::{Cluster, Link, Session};
use plant_store_tests::{Folder, Server, plant, wait_until};

use crate::metrics::{get, metrics_address};

/// A cluster with an empty database.
fn with_plants() -> (Cluster, Session) {
    let cluster = Cluster::start();
    cluster.databases().create("plants");
    let session = cluster.session("plants");
    (cluster, session)
}

fn start(url: &str) -> Server {
    let flags = ["--metrics", "127.0.0.1:0"];
    Server::starting_in(Folder::over(url)).with(&flags).start()
}

fn url(ports: [u16; 2]) -> String {
    let [one, other] = ports;
    format!("postgres://postgres@127.0.0.1:{one},127.0.0.1:{other}/plants")
}

fn port_of(link: &Link) -> u16 {
    let (_, port) = link.databases().server().rsplit_once(':').expect("a port");
    port.parse().expect("a number")
}

#[test]
fn host_that_accepts_and_stays_silent_is_left_for_the_next_one() {
    let (cluster, session) = with_plants();
    let link = Link::to(&cluster);
    link.stall();
    let server = start(&url([port_of(&link), cluster.port()]));
    server.create(&plant(1, "Ficus", None)).plant();
    // It is not tried first again.
    session.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'plant-store'",
    );
    server.create(&plant(2, "Fern", None)).plant();
}

#[test]
fn token_command_finds_the_primary_behind_a_standby() {
    let (primary, _) = with_plants();
    let standby = primary.standby("s1");
    let server = start(&url([standby.port(), primary.port()]));
    server.command(&["token", "create", "ci"]);
    server.command(&["token", "revoke", "ci"]);
    assert!(!server.command(&["token", "list"]).contains("ci"));
}

#[test]
fn store_that_was_mended_is_ready_without_a_create() {
    let (cluster, session) = with_plants();
    let server = start(&cluster.url("plants"));
    let ready = || get(metrics_address(&server), "/ready").status;
    session.execute("ALTER TABLE plants RENAME TO hidden");
    assert_eq!(server.create(&plant(1, "Ficus", None)).refusal().0, 500);
    assert_eq!(ready(), 503);
    session.execute("ALTER TABLE hidden RENAME TO plants");
    wait_until(|| ready() == 200, || server.log());
    server.create(&plant(1, "Ficus", None)).plant();
}
