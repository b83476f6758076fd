//! The admin listener (`--metrics`): `/live`, `/ready` and `/openapi.json`.

use std::net::SocketAddr;

use nix::sys::signal::Signal;
use plant_store_tests::{Connection, Server, plant};

use crate::database;
use crate::metrics::{get, metrics_address, scrape, series};
use crate::wire::signals::in_flight;
use crate::without_store::command_line::commit;
use crate::without_store::readmes::text;

/// Returns the status and the text of `/ready`.
fn ready(address: SocketAddr) -> (u16, String) {
    let answer = get(address, "/ready");
    (answer.status, String::from_utf8(answer.body).expect("text"))
}

fn is_ready(address: SocketAddr) -> bool {
    get(address, "/ready").status == 200
}

const METRICS: [&str; 2] = ["--metrics", "127.0.0.1:0"];

fn starting(flags: &[&str]) -> (Server, SocketAddr) {
    let server = Server::starting().with(&METRICS).with(flags).start();
    let address = metrics_address(&server);
    (server, address)
}

#[test]
fn admin_listener_serves_live_ready_and_the_document() {
    let (server, address) = starting(&[]);
    assert_eq!(get(address, "/live").status, 200);
    assert_eq!(get(address, "/live?verbose").status, 200);
    server.wait_until("the first commit succeeds", || ready(address) == (200, "ready\n".into()));
    let document = get(address, "/openapi.json");
    assert_eq!(document.header("content-type"), Some("application/json"));
    assert!(document.body == text("openapi/plant-store.json").as_bytes());
    for path in ["/live", "/ready", "/metrics", "/openapi.json"] {
        assert_eq!(get(server.address, path).status, 404, "{path} of the API");
    }
    assert_eq!(get(address, "/").status, 404);
    let post = b"POST /live HTTP/1.1\r\nHost: plants\r\nContent-Length: 0\r\n\r\n";
    let refused = Connection::open(address).exchange(post);
    assert_eq!((refused.status, refused.header("allow")), (405, Some("GET")));
}

/// A load balancer sends no creates to a service that is not ready, so the service must find out
/// without a create that it is ready again.
#[test]
fn ready_is_503_while_the_store_accepts_no_writes() {
    let (server, address) = starting(&[]);
    // Wait for the commit that the service tries when it starts.
    server.wait_until("ready", || is_ready(address));
    let lock = database::locked(&server);
    assert_eq!(server.create(&plant(1, "Ficus", None)).error(), 503);
    assert_eq!(ready(address).0, 503);
    // The create may be refused before the hanging commit has failed.
    server.wait_until("the cause", || ready(address).1.starts_with("the store "));
    let metric_is_ready = || series(&scrape(address))["plant_store_ready"] == "1";
    assert!(!metric_is_ready());
    drop(lock);
    server.wait_until("ready again", || is_ready(address));
    assert!(metric_is_ready());
    server.wait_for_log("the store takes writes again");
}

#[test]
fn ready_is_503_during_shutdown() {
    let (mut server, address) = starting(&[]);
    let body = plant(1, "Ficus", None);
    let mut last = in_flight(&server, &body);
    server.signal(Signal::SIGTERM);
    server.wait_until("503", || ready(address) == (503, "the service is stopping\n".into()));
    assert_eq!(get(address, "/live").status, 200);
    last.exchange(body.as_bytes()).plant();
    assert!(server.wait().success());
}

#[test]
fn silent_connections_block_neither_listener() {
    let (server, address) = starting(&[]);
    let silent: Vec<_> = (0..60).map(|_| Connection::open(address)).collect();
    server.create(&plant(1, "Ficus", None)).plant();
    assert_eq!(series(&scrape(address))["plant_store_creates_total{outcome=\"created\"}"], "1");
    server.wait_until("ready", || is_ready(address));
    drop(silent);
}

#[test]
fn metrics_contain_the_release_and_its_commit() {
    let (_server, address) = starting(&[]);
    let version = env!("CARGO_PKG_VERSION");
    let build = format!("plant_store_build_info{{version=\"{version}\",commit=\"{}", commit());
    let scrape = scrape(address);
    assert!(series(&scrape).keys().any(|key| key.starts_with(&build)), "{scrape}");
}
