//! The log says what happened.

use std::fs::File;
use std::io::{BufRead, BufReader};

use chrono::{DateTime, NaiveDateTime};
use nix::sys::signal::Signal;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use plant_store_tests::{Server, plant, post};
use serde_json::Value;

use crate::wire::signals::in_flight;

const FORMATS: [&str; 2] = ["json", "text"];

/// Each line is a JSON object. The `X-Request-Id` of an answer finds the one record of its request.
#[test]
fn each_request_is_one_log_record() {
    let mut server = Server::starting().with(&["--log-level", "debug"]).start();
    let created = server.create(r#"{"id":1,"name":"Ficus"}"#);
    let refused = server.create_with("", r#"{"id":2,"name":"Ficus"}"#);
    let missing = server.connect().exchange(b"POST //plants?x=y HTTP/1.1\r\nHost: plants\r\n\r\n");
    server.signal(Signal::SIGTERM);
    server.wait();

    let log = server.log();
    let records: Vec<Value> =
        log.lines().map(|line| serde_json::from_str(line).expect("a JSON object")).collect();
    let record = |id: Option<&str>| {
        let id = id.expect("a request id");
        let mut found = records.iter().filter(|record| record["req_id"] == id);
        let record = found.next().unwrap_or_else(|| panic!("no record of {id}: {log}"));
        assert!(found.next().is_none(), "two records of {id}: {log}");
        record
    };
    let created = record(created.header("x-request-id"));
    assert_eq!((&created["status"], &created["token"]), (&200.into(), &"first".into()));
    assert!(created["latency_us"].is_u64() && created.get("error").is_none(), "{created}");
    assert_eq!(created["level"], "info");
    let is_loopback =
        |record: &Value| record["remote_addr"].as_str().expect("text").starts_with("127.0.0.1:");
    assert!(is_loopback(created), "{created}");
    let refused = record(refused.header("x-request-id"));
    assert_eq!((&refused["status"], &refused["error"]), (&400.into(), &401.into()));
    assert!(refused.get("token").is_none(), "{refused}");
    let missing = record(missing.header("x-request-id"));
    assert_eq!((&refused["level"], &missing["level"]), (&"debug".into(), &"debug".into()));
    assert_eq!((&missing["status"], &missing["path"]), (&404.into(), &"//plants".into()));
    assert!(missing["cause"].is_string() && !missing.to_string().contains("x=y"), "{missing}");
}

/// So nobody without an accepted token can fill the disk that holds the log.
#[test]
fn requests_without_an_accepted_token_have_no_record_unless_the_level_is_debug() {
    let mut server = Server::start();
    let mut connection = server.connect();
    let _ = connection.exchange(b"GET / HTTP/1.1\r\nHost: plants\r\n\r\n");
    let _ = connection.exchange(b"POST //plants HTTP/1.1\r\nHost: plants\r\n\r\n");
    let _ = connection.exchange(&post("", b""));
    server.create(&plant(1, "Ficus", None)).plant();
    server.signal(Signal::SIGTERM);
    server.wait();
    let log = server.log();
    assert_eq!(log.matches("request completed").count(), 1, "{log}");
}

#[test]
fn log_level_leaves_out_less_important_records() {
    let mut server = Server::starting().with(&["--log-level", "error"]).start();
    server.create(r#"{"id":1,"name":"Ficus"}"#).plant();
    server.signal(Signal::SIGTERM);
    assert!(server.wait().success());
    assert_eq!(server.log(), "");
}

/// A server whose standard error is a pipe, and the reading end of the pipe.
fn logging_to_a_pipe(format: &str) -> (Server, BufReader<File>) {
    let server = Server::starting().with(&["--log-format", format, "--log-level", "debug"]);
    let log = server.log_file();
    mkfifo(&log, Mode::S_IRWXU).expect("a pipe");
    // Opening one end waits until the other is open (fifo(7)). Opening both at once does not wait.
    let both = File::options().read(true).write(true).open(&log).expect("both ends");
    let server = server.start();
    let reader = File::open(&log).expect("the end to read");
    drop(both);
    (server, BufReader::new(reader))
}

/// A JSON record has its time in `ts`; a text record begins with it: `Nov 20 14:58:03.000`.
fn assert_has_a_time(record: &str) {
    let time = match serde_json::from_str::<Value>(record) {
        Ok(record) => DateTime::parse_from_rfc3339(record["ts"].as_str().expect("text")).is_ok(),
        Err(_) => NaiveDateTime::parse_from_str(
            &format!("2000 {}", record.get(..19).expect("a time")),
            "%Y %b %d %H:%M:%S%.3f",
        )
        .is_ok(),
    };
    assert!(time, "{record}");
}

/// Makes more log records than the pipe and the log's buffer hold. Returns how many requests did
/// that.
fn overflow_log(server: &Server) -> u64 {
    let (requests, at_once) = (5000, 100);
    let request = format!("POST {}plants HTTP/1.1\r\nHost: plants\r\n\r\n", "/".repeat(200));
    let mut connection = server.connect();
    for _ in 0..requests / at_once {
        connection.send(request.repeat(at_once).as_bytes());
        for _ in 0..at_once {
            assert_eq!(connection.receive().status, 404);
        }
    }
    requests as u64
}

#[test]
fn unread_standard_error_drops_records_and_counts_them() {
    for format in FORMATS {
        let (mut server, log) = logging_to_a_pipe(format);
        let requests = overflow_log(&server);

        let mut records = log.lines().map(|line| line.expect("the log is text"));
        let mut written = 0;
        let lost = loop {
            let record = records.next().expect("a record that says how many were lost");
            assert_has_a_time(&record);
            if record.contains("records lost") {
                break match serde_json::from_str::<Value>(&record) {
                    Ok(record) => record["lost"].as_u64(),
                    Err(_) => record.rsplit(' ').next().and_then(|count| count.parse().ok()),
                };
            }
            written += u64::from(record.contains("//////"));
        };
        let lost: u64 = lost.expect("a number");
        assert!(lost > 0 && written > 0, "{lost} lost, {written} written");
        assert_eq!(lost + written, requests);

        server.signal(Signal::SIGTERM);
        assert!(server.wait().success());
        assert!(records.last().expect("the log goes on").contains("stopped"));
    }
}

/// After a second signal, `main` writes one more line to standard error: that must not block.
#[test]
fn unread_standard_error_does_not_delay_the_end() {
    let (once, twice) = ([Signal::SIGTERM], [Signal::SIGTERM, Signal::SIGINT]);
    for format in FORMATS {
        for (signals, status) in [(once.as_slice(), 0), (&twice, 1)] {
            let (mut server, _log) = logging_to_a_pipe(format);
            overflow_log(&server);
            let _connection = (status == 1).then(|| in_flight(&server, &plant(1, "Ficus", None)));
            for signal in signals {
                server.signal(*signal);
            }
            assert_eq!(server.wait().code(), Some(status), "{format}, {signals:?}");
        }
    }
}

#[test]
fn closed_standard_error_changes_no_exit_status() {
    let (mut server, log) = logging_to_a_pipe("json");
    drop(log);
    server.create(&plant(1, "Ficus", None)).plant();
    let _connection = in_flight(&server, &plant(2, "Fern", None));
    server.signal(Signal::SIGTERM);
    server.signal(Signal::SIGINT);
    assert_eq!(server.wait().code(), Some(1));
}

/// Each client may ask for the cause. The record of it does not repeat what the client sent.
#[test]
fn record_of_a_400_has_its_reason() {
    let server = Server::start();
    for (body, expected) in [
        (r#"{"id":1}"#, "`name` is missing"),
        (r#"{"secret":1,"secret":2}"#, "a member is given twice"),
        ("{", "the body is not JSON: EOF while parsing an object at line 1 column 1"),
    ] {
        let answer = server.create(body);
        let id = answer.header("x-request-id").expect("a request id");
        server.wait_for_log(id);
        let log = server.log();
        let record = log.lines().find(|line| line.contains(id)).expect("a record");
        let record: Value = serde_json::from_str(record).expect("JSON");
        assert_eq!(record["cause"], expected);
    }
}

/// Whoever adds a member looks here first, for clients that send one of that name already.
#[test]
fn record_of_a_create_names_three_ignored_members_and_no_value() {
    let server = Server::start();
    let name = "f".repeat(40);
    let body = format!(r#"{{"id":1,"colour":"secret","name":"","{name}f":0,"a":0,"b":0}}"#);
    let cut = format!("colour,{name},a");
    for (body, expected) in [
        (body.as_str(), Value::from(cut)),
        // Refused by the store, after its body was read.
        (r#"{"id":1,"name":"other","size":"secret"}"#, "size".into()),
        (r#"{"id":1,"name":""}"#, Value::Null),
    ] {
        let answer = server.create(body);
        let id = answer.header("x-request-id").expect("a request id");
        server.wait_for_log(id);
        let log = server.log();
        let record = log.lines().find(|line| line.contains(id)).expect("a record");
        assert!(!record.contains("secret"), "{record}");
        let record: Value = serde_json::from_str(record).expect("JSON");
        assert_eq!(record["ignored"], expected, "{record}");
    }
}

#[test]
fn record_of_another_spelling_has_200_bytes_of_its_path_and_no_query() {
    let mut server = Server::starting().with(&["--log-level", "debug"]).start();
    for path in [format!("{}plants", "/".repeat(1000)), "http://user:secret@x//plants?y".into()] {
        let request = format!("POST {path} HTTP/1.1\r\nHost: plants\r\n\r\n");
        assert_eq!(server.connect().exchange(request.as_bytes()).status, 404);
    }
    server.signal(Signal::SIGTERM);
    server.wait();
    let log = server.log();
    let records = log.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let paths: Vec<_> = records.filter_map(|it| Some(it["path"].as_str()?.to_owned())).collect();
    assert_eq!((paths[0].len(), paths[1].as_str()), (200, "//plants"));
    assert!(!log.contains("secret"));
}
