//! Several hosts in one URL, and what changes on them.

use plant_store_tests::postgres::Link;
use plant_store_tests::{Folder, Server, plant};

use super::scene::with_plants;

fn start(ports: [u16; 2]) -> Server {
    let [one, other] = ports;
    let url = format!("postgres://postgres@127.0.0.1:{one},127.0.0.1:{other}/plants");
    Server::starting_in(Folder::over(&url)).start()
}

fn port_of(link: &Link) -> u16 {
    let (_, port) = link.databases().server().rsplit_once(':').expect("a port");
    port.parse().expect("a number")
}

#[test]
fn host_that_accepts_and_stays_silent_is_left_for_the_next_one() {
    let (cluster, _) = with_plants();
    let link = Link::to(&cluster);
    link.stall();
    let server = start([port_of(&link), cluster.port()]);
    server.create(&plant(1, "Ficus", None)).plant();
    // It is not tried first again.
    cluster.session("plants").execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'plant-store'",
    );
    server.create(&plant(2, "Fern", None)).plant();
}

#[test]
fn token_command_finds_the_primary_behind_a_standby() {
    let (primary, _) = with_plants();
    let standby = primary.standby("s1");
    let server = start([standby.port(), primary.port()]);
    server.command(&["token", "create", "ci"]);
    server.command(&["token", "revoke", "ci"]);
    assert!(!server.command(&["token", "list"]).contains("ci"));
}
