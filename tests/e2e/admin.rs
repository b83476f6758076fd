//! `--metrics`: `/live` and `/ready`, also while clients take as many connections as they can.

use std::net::SocketAddr;
use std::process::Command;
use std::thread;

use nix::sys::signal::Signal;
use plant_store_tests::{Connection, Folder, Server, binary_in, plant};

use crate::connections::{Crowd, count, create_late};
use crate::database;
use crate::metrics::{get, metrics_address, scrape, series};
use crate::wire::signals::in_flight;
use crate::without_store::command_line::commit;

/// The status of `/ready`, and its text.
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
fn operators_get_live_and_ready_and_nothing_else() {
    let (_server, address) = starting(&[]);
    assert_eq!(get(address, "/live").status, 200);
    assert_eq!(get(address, "/live?verbose").status, 200);
    assert_eq!(ready(address), (200, "ready\n".into()));
    assert_eq!(get(address, "/").status, 404);
    let post = b"POST /live HTTP/1.1\r\nHost: plants\r\nContent-Length: 0\r\n\r\n";
    let refused = Connection::open(address).exchange(post);
    assert_eq!((refused.status, refused.header("allow")), (405, Some("GET, HEAD")));
}

/// A balancer sends no creates to a service that is not ready, so the service has to find out by
/// itself that it is ready again.
#[test]
fn ready_is_503_while_the_store_takes_no_writes_and_200_after_without_a_create() {
    let (server, address) = starting(&[]);
    let lock = database::locked(&server);
    assert_eq!(server.create(&plant(1, "Ficus", None)).error(), 503);
    assert_eq!(ready(address), (503, "the store does not take writes\n".into()));
    let metric_is_ready = || series(&scrape(address))["plant_store_ready"] == "1";
    assert!(!metric_is_ready());
    drop(lock);
    server.wait_until("ready again", || is_ready(address));
    assert!(metric_is_ready());
    server.wait_for_log("the store takes writes again");
}

#[test]
fn ready_is_503_from_the_signal_on() {
    let (mut server, address) = starting(&[]);
    let body = plant(1, "Ficus", None);
    let mut last = in_flight(&server, &body);
    server.signal(Signal::SIGTERM);
    server.wait_until("503", || ready(address) == (503, "the service stops\n".into()));
    assert_eq!(get(address, "/live").status, 200);
    last.exchange(body.as_bytes()).plant();
    assert!(server.wait().success());
}

/// More clients than may be connected: the open connections go on, operators are answered, and the
/// others wait for their turn.
#[test]
fn connections_past_their_limit_wait_and_operators_are_answered() {
    const MOST: usize = 20;
    const FILES: usize = 100;
    /// How many more there may be.
    const FEW: usize = 4;
    let most = ["--max-connections", &MOST.to_string()];
    let starting = Server::starting().with(&METRICS).with(&most);
    let server = starting.with_open_files(&format!("-n {FILES}")).start();
    let address = metrics_address(&server);
    let mut early = server.connect();
    early.exchange(&server.post(&plant(0, "Ficus", None))).plant();
    let crowd = Crowd::of(FILES, server.address);
    server.wait_for_log("connection limit reached");
    thread::scope(|scope| {
        let late = scope.spawn(|| create_late(&server, &plant(1, "Ficus", None)));
        let connections = count(address);
        assert!((MOST..=MOST + FEW).contains(&connections), "{connections}");
        assert!(is_ready(address));
        early.exchange(&server.post(&plant(2, "Ficus", None))).plant();
        assert!(!late.is_finished());
        drop(crowd);
        late.join().expect("an answer");
    });
    assert!(!server.log().contains("accept error"), "ten a second would fill the disk");
}

/// Their descriptors are free then, and clients may take them before the service looks.
#[test]
fn connections_of_operators_that_close_do_not_raise_the_limit_of_clients() {
    const MOST: usize = 10;
    const FEW: usize = 4;
    let (server, address) = starting(&["--max-connections", &MOST.to_string()]);
    let operators: Vec<_> = (0..60).map(|_| Connection::open(address)).collect();
    // It is closed while operators have all descriptors, and connects again.
    let _first = Crowd::of(1, server.address);
    server.wait_until("a look at the descriptors", || count(address) == 1);
    drop(operators);
    let _crowd = Crowd::of(100, server.address);
    server.wait_for_log("connection limit reached");
    server.wait_until("those past the bound are closed", || {
        (MOST..=MOST + FEW).contains(&count(address))
    });
}

/// The listener cannot pause then. New connections past the bound are closed instead, and the
/// service keeps the descriptors that it needs.
#[test]
fn system_without_packet_filters_is_a_warning_and_operators_are_answered() {
    const MOST: usize = 20;
    let starting = Server::starting().with(&METRICS);
    let library = starting.folder().join("no_filters.so");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/e2e/no_filters.c");
    let mut cc = Command::new("cc");
    let compiled = cc.args(["-shared", "-fPIC", source, "-o"]).arg(&library).status();
    assert!(compiled.expect("there is a C compiler").success());
    let starting = starting.command(|command| {
        command.env("LD_PRELOAD", &library);
    });
    let server = starting.with(&["--max-connections", &MOST.to_string()]).start();
    server.wait_for_log("this system lets no packet filter on the listener");
    let address = metrics_address(&server);
    let _crowd = Crowd::of(100, server.address);
    server.wait_for_log("connection limit reached");
    for _ in 0..100 {
        assert_eq!(get(address, "/live").status, 200);
        // Between two looks clients may take what operators' connections gave back.
        assert!(count(address) < 2 * MOST);
    }
}

#[test]
fn hard_limit_on_open_files_that_leaves_no_connection_ends_the_start_and_says_what_to_set() {
    let folder = Folder::new();
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -n 28 && exec \"$0\" serve --listen 127.0.0.1:0"]);
    limited.arg(binary_in(folder.path()).get_program()).current_dir(folder.path());
    let output = limited.output().expect("a shell");
    let said = String::from_utf8(output.stderr).expect("text");
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("the hard limit on open files is 28, which leaves no connection"),
        "{said}"
    );
    assert!(said.contains("LimitNOFILE="), "{said}");
}

#[test]
fn clients_that_say_nothing_to_the_operators_listener_stop_neither_it_nor_the_api() {
    let (server, address) = starting(&[]);
    let silent: Vec<_> = (0..60).map(|_| Connection::open(address)).collect();
    server.create(&plant(1, "Ficus", None)).plant();
    assert_eq!(series(&scrape(address))["plant_store_creates_total{outcome=\"created\"}"], "1");
    let many: Vec<_> = (0..60).map(|_| Connection::open(address)).collect();
    for mut connection in silent.into_iter().chain(many) {
        connection.expect_closed("without a request");
    }
    assert!(is_ready(address));
}

#[test]
fn metrics_tell_the_release_and_its_commit() {
    let (_server, address) = starting(&[]);
    let version = env!("CARGO_PKG_VERSION");
    let build = format!("plant_store_build_info{{version=\"{version}\",commit=\"{}", commit());
    let scrape = scrape(address);
    assert!(series(&scrape).keys().any(|key| key.starts_with(&build)), "{scrape}");
}
