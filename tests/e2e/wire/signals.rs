//! How the server reacts to signals that stop it.

use plant_store_tests::prelude::*;
use reqwest::Version;

use crate::database;

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
    let wal = fs::metadata(server.folder().join(database::WAL));
    assert_eq!(wal.map_or(0, |wal| wal.len()), 0, "{log}");
    sending.join().expect("the sender ends with the server");
    assert!(server.export().into_keys().eq([1]));
    drop((half, deaf, without_body));
}
