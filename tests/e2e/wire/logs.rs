//! The log.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::iter;
use std::sync::mpsc;
use std::thread;

use chrono::DateTime;
use nix::sys::signal::Signal;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use plant_store_tests::process::open_files;
use plant_store_tests::{EVENT_TIMEOUT, Response, Server, plant, post};
use serde_json::Value;

use crate::database;
use crate::wire::signals::in_flight;

/// Returns the single record of a request, found by the `X-Request-Id` of its answer.
pub fn record_of(server: &Server, answer: &Response) -> Value {
    let id = answer.header("x-request-id").expect("a request id");
    server.wait_for_log(id);
    let log = server.log();
    let mut records = log.lines().filter(|line| line.contains(id));
    let record = records.next().expect("a record");
    assert!(records.next().is_none(), "two records of {id}: {log}");
    serde_json::from_str(record).expect("JSON")
}

#[test]
fn each_request_is_one_log_record() {
    let server = Server::starting().with(&["--log-level", "debug"]).start();
    let body = plant(1, "Ficus", None);
    let created = record_of(&server, &server.create(&body));
    assert_eq!((&created["status"], &created["token"]), (&200.into(), &"first".into()));
    assert!(created["latency_us"].is_u64() && created.get("error").is_none(), "{created}");
    let kind = (&created["level"], &created["operation"]);
    assert_eq!(kind, (&"info".into(), &"create_plant".into()));
    let remote = created["remote_addr"].as_str().expect("text");
    assert!(remote.starts_with("127.0.0.1:"), "{created}");
    let refused = record_of(&server, &server.create_with("", &body));
    assert_eq!((&refused["status"], &refused["error"]), (&400.into(), &401.into()));
    assert!(refused["level"] == "debug" && refused.get("token").is_none(), "{refused}");
    let queried = "POST http://user:secret@x/plants?secret HTTP/1.1\r\nHost: plants\r\n\r\n";
    assert_eq!(server.connect().exchange(queried.as_bytes()).error(), 401);
    assert!(!server.log().contains("secret"));
}

/// Clients without an accepted token cannot fill the disk that holds the log. At the level `error`,
/// no request is logged.
#[test]
fn requests_without_an_accepted_token_are_not_logged_at_info() {
    for (level, records) in [("info", 1), ("error", 0)] {
        let mut server = Server::starting().with(&["--log-level", level]).start();
        let mut connection = server.connect();
        let _ = connection.exchange(b"GET / HTTP/1.1\r\nHost: plants\r\n\r\n");
        let _ = connection.exchange(&post("", b""));
        server.create(&plant(1, "Ficus", None)).plant();
        server.signal(Signal::SIGTERM);
        assert!(server.wait().success());
        let log = server.log();
        assert_eq!(log.matches("request completed").count(), records, "{log}");
        assert!(records > 0 || log.is_empty(), "{log}");
    }
}

/// The plant of such a client may be stored, so the service logs a record. It drops Dropshot's own
/// warning, because anybody could cause such warnings and fill the disk that holds the log.
#[test]
fn client_that_disconnects_before_its_answer_is_logged_at_info() {
    let mut server = Server::starting().with(&["--store-timeout", "1m"]).start();
    let lock = database::locked(&server);
    let body = plant(1, "Ficus", None);
    let mut leaves = in_flight(&server, &body);
    leaves.send(body.as_bytes());
    // This request is answered after the body was read. Dropshot does not notice a disconnect if
    // the last bytes and the end of the connection arrive in one read.
    assert_eq!(server.create_with("", "{}").error(), 401);
    let open = open_files(server.pid());
    drop(leaves);
    server.wait_until("the connection is closed", || open_files(server.pid()) < open);
    drop(lock);
    server.wait_for_log("request ended without an answer");
    let log = server.log();
    let record = log.lines().find(|line| line.contains("without an answer")).expect("a record");
    let record: Value = serde_json::from_str(record).expect("JSON");
    assert_eq!((&record["status"], &record["token"]), (&499.into(), &"first".into()), "{record}");
    assert!(record["req_id"].is_string(), "{record}");
    server.signal(Signal::SIGTERM);
    assert!(server.wait().success());
    assert!(!server.log().contains(r#""level":"warning""#), "{}", server.log());
}

/// Starts a server whose stderr is a pipe. Returns the server and the reading end of the pipe.
fn logging_to_a_pipe(format: &str) -> (Server, BufReader<File>) {
    let flags = ["--log-format", format, "--log-level", "debug", "--metrics", "127.0.0.1:0"];
    let starting = Server::starting().with(&flags);
    let log = starting.log_file();
    mkfifo(&log, Mode::S_IRWXU).expect("a pipe");
    // Opening one end blocks until the other end is open (fifo(7)). Opening both ends at once does
    // not block.
    let both = File::options().read(true).write(true).open(&log).expect("both ends");
    let server = starting.start();
    let reader = File::open(&log).expect("the reading end");
    drop(both);
    (server, BufReader::new(reader))
}

/// Causes more log records than the pipe and the queue of the log can hold. Returns the number of
/// requests.
fn overflow_log(server: &Server) -> u64 {
    const ROUNDS: usize = 80;
    const AT_ONCE: usize = 100;
    let mut connection = server.connect();
    for _ in 0..ROUNDS {
        connection.send(&post("", b"").repeat(AT_ONCE));
        for _ in 0..AT_ONCE {
            assert_eq!(connection.receive().error(), 401);
        }
    }
    (ROUNDS * AT_ONCE) as u64
}

/// Parses the number of lost records from a report in JSON or text.
fn lost_records(record: &str) -> u64 {
    let lost = if let Ok(record) = serde_json::from_str::<Value>(record) {
        let time = record["ts"].as_str().expect("a time");
        DateTime::parse_from_rfc3339(time).expect("a time");
        record["count"].as_u64()
    } else {
        record.rsplit(' ').next().and_then(|count| count.parse().ok())
    };
    lost.expect("a number")
}

#[test]
fn unread_stderr_drops_records_and_reports_their_number() {
    for format in ["json", "text"] {
        let (mut server, log) = logging_to_a_pipe(format);
        let requests = overflow_log(&server);

        let (sender, lines) = mpsc::channel();
        thread::spawn(move || log.lines().try_for_each(|line| sender.send(line)));
        let lines = iter::from_fn(|| lines.recv_timeout(EVENT_TIMEOUT).ok());
        let mut records = lines.map(|line| line.expect("the log is text"));
        let mut written = 0;
        let mut lost = 0;
        let mut end = String::new();
        // The report comes with the next record for which there is room. Reading these makes room.
        let first_records: Vec<_> = records.by_ref().take(1000).collect();
        server.signal(Signal::SIGTERM);
        for record in first_records.into_iter().chain(records) {
            if record.contains("log records were dropped") {
                lost += lost_records(&record);
            }
            written += u64::from(record.contains("request completed"));
            end = record;
        }
        assert!(server.wait().success());
        assert!(lost > 0 && written > 0, "{lost} lost, {written} written");
        assert_eq!(lost + written, requests, "{lost} lost, {written} written");
        assert!(end.contains("stopped"), "{end}");
    }
}

#[test]
fn unread_stderr_does_not_delay_the_exit() {
    let (mut server, _log) = logging_to_a_pipe("json");
    overflow_log(&server);
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait().code(), Some(0));
}

#[test]
fn closed_stderr_changes_no_answer_and_no_exit_code() {
    let (mut server, log) = logging_to_a_pipe("json");
    drop(log);
    server.create(&plant(1, "Ficus", None)).plant();
    server.create(&plant(2, "Ficus", None)).plant();
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait().code(), Some(0));
}

/// A line break could forge a record in the text format, and ESC could control a terminal.
#[test]
fn name_of_an_ignored_member_is_escaped_in_the_log() {
    let server = Server::starting().with(&["--log-format", "text"]).start();
    server.create(r#"{"id":1,"name":"","a\nb":0,"\u001b[2J":0}"#).plant();
    let broken = r#"{"id":1,"name":"","c\nd":x}"#;
    assert_eq!(server.create(broken).error(), 400);
    server.wait_for_log(r"a\nb,\u{1b}[2J");
    server.wait_for_log(r"`c\nd`");
    assert!(!server.log().contains('\u{1b}'));
}

/// Before a member is added to the contract, the log shows whether clients already send one with
/// the same name.
#[test]
fn record_names_three_ignored_members_and_no_values() {
    let server = Server::start();
    let name = "f".repeat(40);
    let body = format!(r#"{{"id":1,"unknown":"secret","name":"","{name}f":0,"a":0,"b":0}}"#);
    let cut = format!("unknown,{name},a");
    for (body, expected) in [
        (body.as_str(), Value::from(cut)),
        // The store refuses this plant after its body was parsed.
        (r#"{"id":1,"name":"other","other":"secret"}"#, "other".into()),
        (r#"{"id":1,"name":""}"#, Value::Null),
    ] {
        let record = record_of(&server, &server.create(body));
        assert_eq!(record["ignored"], expected, "{record}");
    }
    assert!(!server.log().contains("secret"));
}
