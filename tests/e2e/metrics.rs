//! The metrics: their values after known requests, and where they are served.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::{SocketAddr, TcpListener};

use plant_store_client::ErrorCode;
use plant_store_tests::{Connection, Response, Server, plant, post, run};

use crate::database;

/// Sends a GET to the admin listener.
pub fn get(address: SocketAddr, target: &str) -> Response {
    Connection::open(address)
        .exchange(format!("GET {target} HTTP/1.1\r\nHost: plants\r\n\r\n").as_bytes())
}

/// Returns the text of a scrape.
pub fn scrape(address: SocketAddr) -> String {
    let response = get(address, "/metrics");
    assert_eq!(response.status, 200);
    assert_eq!(response.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    String::from_utf8(response.body).expect("a scrape is text")
}

/// Parses the value of every series, as text.
pub fn series(scrape: &str) -> BTreeMap<&str, &str> {
    let samples = scrape.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    samples.map(|line| line.rsplit_once(' ').expect("a name and a value")).collect()
}

/// Returns the address of the admin listener, from the log of the server.
pub fn metrics_address(server: &Server) -> SocketAddr {
    server.wait_for_log("serving metrics");
    let log = server.log();
    let line = log.lines().find(|line| line.contains("serving metrics")).expect("a record");
    let record: serde_json::Value = serde_json::from_str(line).expect("a record is JSON");
    record["address"].as_str().expect("an address").parse().expect("an address")
}

fn creates(scrape: &str) -> [&str; 3] {
    let outcomes = ["created", "repeated", "conflict"];
    outcomes.map(|outcome| {
        series(scrape)[format!("plant_store_creates_total{{outcome=\"{outcome}\"}}").as_str()]
    })
}

/// Returns the number of refusals for each value of `error`, without zeros.
fn refusals(scrape: &str) -> BTreeMap<u16, &str> {
    let count = |code: &ErrorCode| {
        let error = u16::try_from(code.number()).expect("a status code");
        let name = format!("plant_store_refusals_total{{error=\"{error}\"}}");
        (error, series(scrape)[name.as_str()])
    };
    ErrorCode::KNOWN.iter().map(count).filter(|(_, count)| *count != "0").collect()
}

/// Returns the series that have a line of this kind in the scrape: `HELP` or `TYPE`.
fn named<'a>(scrape: &'a str, kind: &str) -> BTreeSet<&'a str> {
    let comment = format!("# {kind} ");
    let lines = scrape.lines().filter_map(|line| line.strip_prefix(&comment)?.split(' ').next());
    lines.collect()
}

/// A TCP socket of the server process (proc(5), `/proc/PID/net/tcp`).
struct Socket {
    /// The local address and port, in hexadecimal digits.
    local: String,
    is_listening: bool,
}

fn sockets(server: &Server) -> Vec<Socket> {
    let process = format!("/proc/{}", server.pid());
    let files: Vec<_> = fs::read_dir(format!("{process}/fd"))
        .expect("the process is there")
        .filter_map(|file| {
            fs::read_link(file.ok()?.path()).ok()?.into_os_string().into_string().ok()
        })
        .collect();
    let table = fs::read_to_string(format!("{process}/net/tcp")).expect("a table of sockets");
    // The second field is the local end, the fourth the state, 0A for LISTEN, the tenth the inode.
    let rows = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    rows.filter(|fields| files.contains(&format!("socket:[{}]", fields[9])))
        .map(|fields| Socket { local: fields[1].to_owned(), is_listening: fields[3] == "0A" })
        .collect()
}

/// Returns the number of listening TCP sockets of the server.
fn listeners(server: &Server) -> usize {
    sockets(server).iter().filter(|socket| socket.is_listening).count()
}

/// Returns the number of open client connections of the server.
fn connections(server: &Server) -> usize {
    let port = format!(":{:04X}", server.address.port());
    let is_client = |socket: &&Socket| !socket.is_listening && socket.local.ends_with(&port);
    sockets(server).iter().filter(is_client).count()
}

/// Each kind of request is sent a different number of times, so that swapped counters are noticed.
#[test]
fn metrics_count_every_outcome_and_every_refusal() {
    let server = Server::starting()
        .with(&["--body-timeout", "50ms", "--max-body", "1KiB"])
        .command(|command| {
            command.env("PLANT_STORE_METRICS", "127.0.0.1:0");
        })
        .start();
    let metrics = metrics_address(&server);
    let before = scrape(metrics);
    for (name, value) in series(&before) {
        let is_a_count = name.ends_with("_total") || name.contains("_total{");
        assert!(value == "0" || !is_a_count, "{name} {value}");
    }
    assert_eq!(named(&before, "HELP"), named(&before, "TYPE"), "each series is described");

    let token = server.bearer();
    let refuse = |error, times, request: &[u8]| {
        for _ in 0..times {
            assert_eq!(server.connect().exchange(request).error(), error);
        }
    };
    let monstera = plant(1, "Monstera deliciosa", Some("indoor"));
    for id in 1..=5 {
        let _ = server.create(&plant(id, "Monstera deliciosa", Some("indoor"))).plant();
    }
    for _ in 0..3 {
        let _ = server.create(&monstera).plant();
    }
    refuse(409, 2, &post(&token, plant(1, "Ficus lyrata", None).as_bytes()));
    refuse(400, 4, &post(&token, b"{}"));
    refuse(401, 6, &post("Authorization: Bearer pst_wrong\r\n", monstera.as_bytes()));
    refuse(413, 7, &post(&token, &[b' '; 2048]));
    refuse(415, 8, &post(&format!("{token}Content-Encoding: gzip\r\n"), monstera.as_bytes()));
    let mut late = post(&token, monstera.as_bytes());
    late.pop();
    refuse(408, 1, &late);

    let after = scrape(metrics);
    assert_eq!(creates(&after), ["5", "3", "2"]);
    let refused = [(400, "4"), (401, "6"), (408, "1"), (409, "2"), (413, "7"), (415, "8")];
    assert_eq!(refusals(&after), refused.into());
    let values = series(&after);
    assert_eq!(values["plant_store_request_duration_seconds_count"], "36");
    assert_eq!(values["plant_store_request_duration_seconds_bucket{le=\"+Inf\"}"], "36");
    // The request with the incomplete body took as long as the deadline.
    assert_ne!(values["plant_store_request_duration_seconds_bucket{le=\"0.05\"}"], "36");
    assert_eq!(values["plant_store_commit_duration_seconds_count"], "10");
    assert_eq!(values["plant_store_commit_batch_size_bucket{le=\"1\"}"], "10");
    assert_eq!(values["plant_store_commit_batch_size_sum"], "10");
    assert_eq!(values["plant_store_queue_depth"], "0");

    for secret in [&server.token[4..], "Monstera", "Ficus", "indoor", "pst_"] {
        assert!(!after.contains(secret), "{secret:?} is in the scrape");
    }
}

/// An expired token counts until it is revoked.
#[test]
fn metrics_contain_the_time_until_the_next_token_expires() {
    let server = Server::starting().with(&["--metrics", "127.0.0.1:0"]).start();
    let metrics = metrics_address(&server);
    let seconds = || -> f64 {
        let scrape = scrape(metrics);
        series(&scrape)["plant_store_token_expires_seconds"].parse().expect("a number")
    };
    assert!(seconds().is_infinite(), "the token never expires");
    for (after, expected) in [(1000, 900.0..=1000.0), (-60, -120.0..=-60.0)] {
        let expiry = chrono::Utc::now().timestamp() + after;
        database::execute(&server, &format!("UPDATE tokens SET expires_at = {expiry}"));
        server.wait_until("the tokens are read", || expected.contains(&seconds()));
    }
}

#[test]
fn metrics_count_creates_and_503s_under_overload() {
    let server =
        Server::starting().with(&["--metrics", "127.0.0.1:0", "--max-creates", "1"]).start();
    let metrics = metrics_address(&server);
    let request = server.post(&plant(1, "Monstera deliciosa", None));
    let mut connections: Vec<_> = (0..32).map(|_| server.connect()).collect();
    let mut committed = 0;
    let mut refused = 0;
    server.wait_until("the queue is full and a create is refused", || {
        for connection in &mut connections {
            connection.send(&request);
        }
        for connection in &mut connections {
            let answer = connection.receive();
            if answer.status == 200 {
                committed += 1;
            } else {
                assert_eq!(answer.error(), 503);
                refused += 1;
            }
        }
        refused > 0
    });

    let scrape = scrape(metrics);
    assert_eq!(creates(&scrape), ["1", &(committed - 1).to_string(), "0"]);
    assert_eq!(refusals(&scrape), [(503, refused.to_string().as_str())].into());
    let values = series(&scrape);
    assert_eq!(values["plant_store_commit_batch_size_sum"], committed.to_string());
    assert_eq!(values["plant_store_queue_depth"], "0");
}

/// The client disconnects while its plant waits for a commit. The plant is committed, but there is
/// no answer to count.
#[test]
fn metrics_do_not_count_requests_of_disconnected_clients() {
    let server = Server::starting().with(&["--metrics", "127.0.0.1:0"]).start();
    let metrics = metrics_address(&server);
    let wait_until = |name, value| {
        server.wait_until(name, || series(&scrape(metrics)).get(name) == Some(&value));
    };
    let lock = database::locked(&server);
    let mut stays = server.connect();
    stays.send(&server.post(&plant(1, "Ficus", None)));
    wait_until("plant_store_commit_batch_size_count", "1");
    let mut leaves = server.connect();
    leaves.send(&server.post(&plant(2, "Fern", None)));
    wait_until("plant_store_queue_depth", "1");
    assert_eq!(connections(&server), 2);
    drop(leaves);
    server.wait_until("the connection is closed", || connections(&server) == 1);
    drop(lock);

    let _ = stays.receive();
    wait_until("plant_store_commit_batch_size_sum", "2");
    stays.exchange(&server.post(&plant(3, "Ficus", None))).plant();
    assert!(server.export().contains_key(&2));
    assert_eq!(series(&scrape(metrics))["plant_store_request_duration_seconds_count"], "2");
}

#[test]
fn metrics_count_500s_of_a_broken_store() {
    let server = Server::starting().with(&["--metrics", "127.0.0.1:0"]).start();
    database::drop_plants_table(&server);
    let answer = server.create(&plant(1, "Monstera deliciosa", None));
    assert_eq!(answer.error(), 500);
    let scrape = scrape(metrics_address(&server));
    assert_eq!(creates(&scrape), ["0"; 3]);
    assert_eq!(refusals(&scrape), [(500, "1")].into());
    assert_eq!(series(&scrape)["plant_store_commit_duration_seconds_count"], "1");
}

#[test]
fn metrics_are_served_only_by_the_admin_listener() {
    let get = b"GET /metrics HTTP/1.1\r\nHost: plants\r\n\r\n";
    let without = Server::start();
    assert_eq!(listeners(&without), 1);
    assert_eq!(without.connect().exchange(get).status, 404);

    let with = Server::starting().with(&["--metrics", "127.0.0.1:0"]).start();
    assert_eq!(listeners(&with), 2);
    assert_ne!(metrics_address(&with), with.address);
}

#[test]
fn metrics_address_in_use_is_reported_and_leaves_no_store() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("an address").to_string();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = run(folder.path(), &["serve", "--listen", "127.0.0.1:0", "--metrics", &address]);

    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8(output.stderr).expect("text");
    assert!(
        stderr.starts_with(&format!("plant-store: cannot serve metrics on {address}: ")),
        "{stderr}"
    );
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 0);
}
