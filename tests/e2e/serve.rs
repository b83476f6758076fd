//! `plant-store serve`: what a start that succeeds logs, prints for a new store and tells its
//! supervisor, and how signals stop the server.

use std::env;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

use plant_store_tests::prelude::*;
use plant_store_tests::process::send;
use plant_store_tests::{has, post};
use reqwest::Version;

use crate::database::{STORE, WAL};

/// An operator notices immediately if the server was started in the wrong folder.
#[test]
fn start_logs_the_release_the_store_and_whether_it_is_new() {
    let server = Server::start();
    let first = server.record(|record| record["msg"] == "listening");
    let version = first["version"].as_str().expect("text");
    assert!(version.starts_with(env!("CARGO_PKG_VERSION")), "{first}");
    assert_eq!((&first["is_new"], &first["layout"]), (&true.into(), &1.into()));
    let url = match Engine::of_this_run() {
        Engine::Sqlite => format!("sqlite:{}", server.folder().join(STORE).display()),
        Engine::Postgres => "postgres://".into(),
    };
    assert!(first["store"].as_str().is_some_and(|store| store.starts_with(&url)), "{first}");
    let again = server.stopped_by(Signal::SIGTERM).start();
    again.record(|record| record["is_new"] == false);
}

/// A shell runs the printed command unchanged. In that shell, a function named `curl` prints its
/// arguments, and the test sends the request that they describe. So the test needs no curl.
#[test]
fn printed_curl_command_creates_the_first_plant() {
    let server = Server::start();
    let printed = server.first_request.as_deref().expect("a new store prints a command");
    let script = format!("curl() {{ printf '%s\\n' \"$@\"; }}; {printed}");
    let arguments = run(Command::new("sh").args(["-c", &script])).succeeded();
    let [url, "-H", authorization, "-H", content_type, "-d", body] =
        arguments.lines().collect::<Vec<_>>()[..]
    else {
        panic!("unexpected arguments of curl: {arguments}");
    };
    assert_eq!(url, format!("{}/plants", server.url));
    assert_eq!(content_type, "Content-Type: application/json");
    let created = server.create_with(&format!("{authorization}\r\n"), body);
    assert_eq!(created.plant(), json!({ "name": "Monstera deliciosa", "tag": "indoor" }));
    assert_eq!(server.export()[&1].name, "Monstera deliciosa");
}

/// The printed command contains an address that a client on this machine can reach.
#[test]
fn server_listens_on_the_given_address() {
    let ipv4 = [
        ("127.0.0.2", "127.0.0.2", "127.0.0.2"),
        ("0.0.0.0", "0.0.0.0", "127.0.0.1"),
        ("localhost", "127.0.0.1", "127.0.0.1"),
    ];
    // Some machines have no IPv6. The machines of CI must have it.
    let has_ipv6 = TcpListener::bind("[::1]:0").is_ok() || env::var_os("CI").is_some();
    let ipv6 = has("IPv6", has_ipv6).then_some(("[::]", "[::]", "[::1]"));
    each_row(ipv4.into_iter().chain(ipv6), |(host, expected, client)| {
        let server = Server::starting().with(&["--listen", &format!("{host}:0")]).start();
        let port = server.address.port();
        assert_eq!(server.address.to_string(), format!("{expected}:{port}"));
        let curl = server.first_request.as_deref().expect("a new store");
        assert!(curl.contains(&format!("curl http://{client}:{port}/plants ")), "{curl}");
    });
}

#[test]
fn first_token_none_issues_and_prints_no_token() {
    let folder = Folder::new();
    let mut serve = folder.command("serve --first-token none");
    let mut launched = Launched::start(serve.stderr(Stdio::null())).expect("it serves");
    let listed = folder.run("token list --json").succeeded();
    assert_eq!(listed.trim(), "[]");
    send(Signal::SIGTERM, &launched.process);
    assert_eq!(launched.rest().expect("text"), "");
}

#[test]
fn no_create_starts_only_on_an_existing_store() {
    let folder = Folder::new();
    for _ in 0..2 {
        folder.run("serve --no-create").failed(1, "store");
        assert_eq!(fs::read_dir(folder.path()).expect("the folder is there").count(), 0);
    }
    let server = Server::starting_in(folder).start();
    let server = server.stopped_by(Signal::SIGTERM).with(&["--no-create"]).start();
    server.create(&plant(1, "Ficus", None)).plant();
}

/// One of them creates the store. A file is served by that server alone, a database by all.
#[test]
fn servers_that_start_together_create_one_store() {
    for _ in 0..amount(2, 20) {
        let folder = Folder::new();
        let start = || Launched::start(folder.command("serve").stderr(Stdio::null()));
        let serving: Vec<_> = thread::scope(|scope| {
            let starting: Vec<_> = (0..6).map(|_| scope.spawn(start)).collect();
            let started = starting.into_iter().map(|server| server.join().expect("no panic"));
            started.filter_map(Result::ok).collect()
        });
        let token = folder.run("token create ci").succeeded();
        for (id, server) in (0..).zip(&serving) {
            let request = post(&bearer(token.trim_end()), plant(id, "Ficus", None).as_bytes());
            Connection::open(server.address).exchange(&request).plant();
        }
        let tokens = folder.run("token list").succeeded();
        assert_eq!(tokens.lines().count(), 3, "one server created `first`: {tokens}");
        if Engine::of_this_run() == Engine::Postgres {
            assert_eq!(serving.len(), 6);
            continue;
        }
        assert_eq!(serving.len(), 1);
        folder.run("serve").failed(1, "sqlite:plant-store.db is in use by another process");
        drop(serving);
        start().expect("the lock has ended with its process");
    }
}

#[test]
fn sighup_does_not_end_the_process() {
    let mut server = Server::start();
    server.signal(Signal::SIGHUP);
    server.wait_for_log("SIGHUP: there are no TLS files to reload");
    server.create(&plant(1, "Ficus", None)).plant();
    server.signal(Signal::SIGTERM);
    assert!(server.wait().success());
}

/// The socket of a supervisor is a path, or, with a leading `@`, in the abstract namespace.
#[test]
fn supervisor_is_notified_of_ready_and_stopping() {
    each_row(["", "@"], |mark| {
        let starting = Server::starting();
        let path = starting.folder().join("notify").display().to_string();
        let address = if mark.is_empty() {
            SocketAddr::from_pathname(&path)
        } else {
            SocketAddr::from_abstract_name(&path)
        };
        let socket = UnixDatagram::bind_addr(&address.expect("an address")).expect("a socket");
        socket.set_read_timeout(Some(EVENT_TIMEOUT)).expect("a time-out can be set");
        let notification = || {
            let mut buffer = [0; 256];
            let length = socket.recv(&mut buffer).expect("the server notifies the supervisor");
            String::from_utf8_lossy(&buffer[..length]).trim_end().to_owned()
        };
        let starting = starting.command(|command| {
            command.env("NOTIFY_SOCKET", format!("{mark}{path}"));
        });
        let mut server = starting.start();
        assert_eq!(notification(), "READY=1");
        server.signal(Signal::SIGTERM);
        assert_eq!(notification(), "STOPPING=1");
        assert!(server.wait().success());
    });
}

/// A second signal changes nothing.
#[test]
fn signal_waits_for_requests_in_flight() {
    let [term, int] = [Signal::SIGTERM, Signal::SIGINT];
    each_row([(term, None), (term, Some(term)), (int, Some(term))], |(first, second)| {
        let mut server = Server::start();
        server.create(&plant(1, "Ficus", None)).plant();
        let mut silent = server.connect();
        let body = plant(2, "Fern", None);
        let mut connection = server.in_flight(&body);
        server.signal(first);
        silent.expect_closed("before the last answer");
        if let Some(second) = second {
            server.wait_for_log("stopping");
            server.signal(second);
        }
        connection.exchange(body.as_bytes()).plant();
        connection.expect_closed("after its last answer");
        assert_eq!(server.wait().code(), Some(0));
        let log = server.log();
        assert_eq!(log.matches("request completed").count(), 2, "the log is complete: {log}");
        assert!(log.lines().last().expect("a record").contains("\"stopped\""), "{log}");
        assert_eq!(server.export().len(), 2);
    });
}

/// The grace period is longer than a test waits for an event, and each limit is its maximum. HTTP/2
/// works by prior knowledge.
#[tokio::test(flavor = "multi_thread")]
async fn silent_and_idle_connections_do_not_delay_shutdown() {
    let mut server = Server::starting()
        .with(&["--max-body", "128MiB", "--max-creates", "4294967295", "--store-timeout", "1y"])
        .with(&["--body-timeout", "1y", "--shutdown-timeout", "580000000000y"])
        .start();
    let silent = server.connect();
    let idle_http_2 = reqwest::Client::builder().http2_prior_knowledge().build();
    let idle_http_2 = idle_http_2.expect("a client");
    for (token, expected) in [("x", "{\"error\":401,"), (&server.token, "{\"name\":\"Ficus\"")] {
        let request = idle_http_2.post(format!("{}/plants", server.url)).bearer_auth(token);
        let request = request.header("content-type", "application/json");
        let answer = request.body(plant(1, "Ficus", None)).send().await.expect("an answer");
        assert_eq!(answer.version(), Version::HTTP_2);
        let answer = answer.text().await.expect("a body");
        assert!(answer.starts_with(expected), "{answer}");
    }
    let mut idle = server.connect();
    idle.exchange(&server.post(&plant(1, "Ficus", None))).plant();
    server.stop();
    let log = server.log();
    assert!(log.lines().last().expect("a record").contains("\"stopped\""), "{log}");
    drop((silent, idle, idle_http_2));
}

/// Dropshot waits for a body that never arrives, for the rest of a head, and for a client that does
/// not read its answers. They stay until the end of the grace period.
#[test]
fn shutdown_timeout_closes_the_store_despite_hanging_clients() {
    let flags = ["--shutdown-timeout", "100ms", "--body-timeout", "1h"];
    let mut server = Server::starting().with(&flags).start();
    let without_body = server.in_flight(&plant(2, "Fern", None));
    let mut half = server.connect();
    half.send(b"POST /plants HTTP/1.1\r\nHost: pl");
    let mut deaf = server.connect();
    // More answers than the buffers of two sockets can hold.
    let request = server.post(&plant(1, &"Ficus ".repeat(10_000), None));
    let mut sender = deaf.sender();
    let sending = thread::spawn(move || while sender.try_send(&request) {});
    deaf.receive().plant();
    server.stop();
    let log = server.log();
    assert!(log.contains("requests are left unfinished"), "{log}");
    // The WAL of a closed store is empty. PostgreSQL has no such file.
    let wal = fs::metadata(server.folder().join(WAL));
    assert_eq!(wal.map_or(0, |wal| wal.len()), 0, "{log}");
    sending.join().expect("the sender ends with the server");
    assert!(server.export().into_keys().eq([1]));
    drop((half, deaf, without_body));
}
