//! The log: what it contains, what it never contains, and a stderr that nobody reads.

use std::io::{BufRead, BufReader};
use std::iter;
use std::sync::mpsc;

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use plant_store_tests::prelude::*;
use plant_store_tests::process::open_files;

use crate::database;

/// Clients without an accepted token cannot fill the disk that holds the log: their requests are
/// logged at `debug`, or not at all. At `error`, no request is logged.
#[test]
fn each_request_is_one_log_record() {
    let server = Server::starting().with(&["--log-level", "debug"]).start();
    assert_eq!(get(server.address, "/").status, 404);
    let body = plant(1, "Ficus", None);
    let created = server.record_of(&server.create(&body));
    assert_eq!((&created["status"], &created["token"]), (&200.into(), &"first".into()));
    assert!(created["latency_us"].is_u64() && created.get("error").is_none(), "{created}");
    let kind = (&created["level"], &created["operation"]);
    assert_eq!(kind, (&"info".into(), &"create_plant".into()));
    let remote = created["remote_addr"].as_str().expect("text");
    assert!(remote.starts_with("127.0.0.1:"), "{created}");
    let refused = server.record_of(&server.create_with("", &body));
    assert_eq!((&refused["status"], &refused["error"]), (&400.into(), &401.into()));
    assert!(refused["level"] == "debug" && refused.get("token").is_none(), "{refused}");
    assert_eq!(server.log().matches("request completed").count(), 2, "the GET has no record");

    let mut server = Server::starting().with(&["--log-level", "error"]).start();
    server.create(&body).plant();
    assert_eq!(server.create_with("", &body).error(), 401);
    server.stop();
    assert_eq!(server.log(), "");
}

/// The plant of such a client may be stored, so the service logs a record and counts the create. It
/// drops Dropshot's own warning, because anybody could cause such warnings and fill the disk that
/// holds the log.
#[test]
fn client_that_disconnects_before_its_answer_is_logged_at_info() {
    let mut server = Server::starting().with_admin().with(&["--store-timeout", "1m"]).start();
    let lock = database::locked(&server);
    let body = plant(1, "Ficus", None);
    let mut leaves = server.in_flight(&body);
    leaves.send(body.as_bytes());
    // This request is answered after the body was read. Dropshot does not notice a disconnect if
    // the last bytes and the end of the connection arrive in one read.
    assert_eq!(server.create_with("", "{}").error(), 401);
    let open = open_files(server.pid());
    drop(leaves);
    server.wait_until("the connection is closed", || open_files(server.pid()) < open);
    drop(lock);
    let record = server.record(|record| record["msg"] == "request ended without an answer");
    assert_eq!((&record["status"], &record["token"]), (&499.into(), &"first".into()), "{record}");
    assert!(record["req_id"].is_string(), "{record}");
    let created = "plant_store_creates_total{outcome=\"created\"}";
    server.wait_until("the create is counted", || server.metric(created) == 1);
    let durations = server.metric("plant_store_request_duration_seconds_count");
    assert_eq!(durations, 1, "that of the refusal");
    server.stop();
    assert!(!server.log().contains(r#""level":"warning""#), "{}", server.log());
}

/// Starts a server whose stderr is a pipe. Returns the server and the reading end of the pipe.
fn logging_to_a_pipe() -> (Server, BufReader<File>) {
    let starting = Server::starting().with(&["--log-level", "debug"]);
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
fn overflow_log(server: &Server) -> usize {
    const ROUNDS: usize = 80;
    const AT_ONCE: usize = 100;
    let mut connection = server.connect();
    for _ in 0..ROUNDS {
        connection.send(&post("", b"").repeat(AT_ONCE));
        for _ in 0..AT_ONCE {
            assert_eq!(connection.receive().error(), 401);
        }
    }
    ROUNDS * AT_ONCE
}

#[test]
fn unread_stderr_drops_records_and_reports_their_number() {
    let (mut server, log) = logging_to_a_pipe();
    let requests = overflow_log(&server);
    let (sender, records) = mpsc::channel();
    thread::spawn(move || {
        let parse = |line: String| serde_json::from_str::<Value>(&line).expect("JSON");
        log.lines().try_for_each(|line| sender.send(parse(line.expect("the log is text"))))
    });
    let mut records = iter::from_fn(|| records.recv_timeout(EVENT_TIMEOUT).ok());
    // The report comes with the next record for which there is room. Reading these makes room.
    let mut read: Vec<_> = records.by_ref().take(1000).collect();
    server.signal(Signal::SIGTERM);
    read.extend(records);
    assert_eq!(server.wait().code(), Some(0));
    let lost: u64 = read.iter().filter_map(|record| record["count"].as_u64()).sum();
    let written = read.iter().filter(|record| record["msg"] == "request completed").count();
    assert!(lost > 0 && written > 0, "{lost} lost, {written} written");
    assert_eq!(lost + written as u64, requests as u64, "{lost} lost, {written} written");
    assert_eq!(read.last().expect("a record")["msg"], "stopped");
}

#[test]
fn stderr_that_is_full_or_closed_changes_no_answer_and_no_exit_code() {
    for is_closed in [false, true] {
        let (mut server, log) = logging_to_a_pipe();
        let _open = (!is_closed).then_some(log);
        overflow_log(&server);
        server.create(&plant(1, "Ficus", None)).plant();
        server.signal(Signal::SIGTERM);
        assert_eq!(server.wait().code(), Some(0));
    }
}

/// Before a member is added to the contract, the log shows whether clients already send one with
/// the same name. A line break in a name could forge a record in the text format, and ESC could
/// control a terminal.
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
        let record = server.record_of(&server.create(body));
        assert_eq!(record["ignored"], expected, "{record}");
    }
    assert!(!server.log().contains("secret"));

    let server = Server::starting().with(&["--log-format", "text"]).start();
    server.create(r#"{"id":1,"name":"","a\nb":0,"\u001b[2J":0}"#).plant();
    assert_eq!(server.create(r#"{"id":1,"name":"","c\nd":x}"#).error(), 400);
    server.wait_for_log(r"a\nb,\u{1b}[2J");
    server.wait_for_log(r"`c\nd`");
    assert!(!server.log().contains('\u{1b}'));
}

const SECRET: &str = "in-secret";

/// Sends the token, a plant and a query, each in the right place and in wrong places.
fn send_secrets(server: &Server) {
    let token = &server.token;
    let with_id = |id: &str| format!(r#"{{"id":{id},"name":"name-{SECRET}","tag":"{SECRET}"}}"#);
    let good = server.bearer();
    for (headers, body) in [
        (&good, with_id("1")),
        (&good, with_id("1").replace("name-", "")),
        (&good, with_id("x")),
        (&good, format!(r#"{{"id":1,"name":["{SECRET}"]}}"#)),
        (&format!("{good}Content-Encoding: {SECRET}\r\n"), with_id("1")),
        (&String::new(), with_id("1")),
        (&bearer(&token.to_lowercase()), with_id("1")),
        (&format!("{good}{good}"), with_id("1")),
    ] {
        let request = String::from_utf8(post(headers, body.as_bytes())).expect("text");
        for line in ["POST /plants", "GET /plants", "POST http://x:in-secret@x/plants"] {
            let line = format!("{line}?{SECRET}={token} HTTP");
            let request = request.replace("POST /plants HTTP", &line);
            let _ = server.connect().exchange(request.as_bytes());
        }
    }
    let mut broken = server.connect();
    broken.send(format!("{token} {SECRET}\r\n\r\n").as_bytes());
    let _ = broken.try_receive();
}

/// Disconnects several clients while their plants wait for a commit. Dropshot logs a warning that
/// contains the URI. There are several clients, because Dropshot does not notice every disconnect.
fn disconnect_while_waiting(server: &Server) {
    let lock = database::locked(server);
    let request = String::from_utf8(server.post(&plant(2, SECRET, Some(SECRET)))).expect("text");
    let uri = format!("/plants?{SECRET}={} HTTP", server.token);
    for _ in 0..32 {
        server.connect().send(request.replace("/plants HTTP", &uri).as_bytes());
    }
    server.wait_for_log("client disconnected");
    drop(lock);
}

/// The first process logs text, the second JSON.
#[test]
fn log_contains_no_token_plant_or_query() {
    let flags = |format| ["--log-level", "debug", "--log-format", format];
    let server = Server::starting().with(&flags("text")).start();
    send_secrets(&server);
    disconnect_while_waiting(&server);
    let mut server = server.stopped_by(Signal::SIGTERM).with(&flags("json")).start();
    send_secrets(&server);
    database::execute(&server, "DROP TABLE plants");
    send_secrets(&server);
    server.stop();
    assert_eq!(server.printed(), "", "the token of a store is printed only once");
    let log = server.log();
    assert!(log.contains(" request completed") && log.contains("\"request completed\""), "{log}");
    assert!(log.contains(database::no_plants_table()), "{log}");
    let log = log.to_lowercase();
    let token = server.token["pst_".len()..].to_lowercase();
    for secret in [&token, SECRET, "authorization", "bearer"] {
        assert!(!log.contains(secret), "{secret} in the log: {log}");
    }
}
