//! The log says what happened.

use std::fs::File;
use std::io::{BufRead, BufReader};

use chrono::{DateTime, NaiveDateTime};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::signal::{Signal, kill};
use nix::sys::stat::Mode;
use nix::unistd::{Pid, mkfifo, pipe2};
use plant_store_launcher::Launched;
use plant_store_tests::{Connection, Folder, Server, plant, post};
use serde_json::Value;

use crate::wire::signals::in_flight;

const FORMATS: [&str; 2] = ["json", "text"];

/// Each line is a JSON object. The `X-Request-Id` of an answer finds the one record of its request.
#[test]
fn each_request_is_one_log_record() {
    let mut server = Server::start();
    let created = server.create(r#"{"id":1,"name":"Ficus"}"#);
    let refused = server.create_with("", r#"{"id":2,"name":"Ficus"}"#);
    let missing = server.connect().exchange(b"GET /fern?x=y HTTP/1.1\r\nHost: plants\r\n\r\n");
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
    assert_eq!((&missing["status"], &missing["path"]), (&404.into(), &"/fern".into()));
    assert!(missing["cause"].as_str().expect("text").contains("no route found"), "{missing}");
    let mut names: Vec<_> = missing.as_object().expect("an object").keys().collect();
    names.sort();
    let about_the_record = ["level", "msg", "ts"];
    let about_the_request =
        ["cause", "latency_us", "method", "path", "remote_addr", "req_id", "status"];
    names.retain(|name| !about_the_record.contains(&name.as_str()));
    assert_eq!(names, about_the_request);
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
    let server = Server::starting().with(&["--log-format", format, "--log-strangers", "1000000"]);
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
    let request = format!("GET /{} HTTP/1.1\r\nHost: plants\r\n\r\n", "fern".repeat(50));
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
            written += u64::from(record.contains("fernfern"));
        };
        let lost: u64 = lost.expect("a number");
        assert!(lost > 0 && written > 0, "{lost} lost, {written} written");
        assert_eq!(lost + written, requests);

        server.signal(Signal::SIGTERM);
        assert!(server.wait().success());
        assert!(records.last().expect("the log goes on").contains("stopped"));
    }
}

/// A write to a full pipe that does not block fails, and may take a part of a record before.
#[test]
fn records_in_a_pipe_that_does_not_block_are_whole_and_none_is_lost() {
    const REQUESTS: usize = 500;
    let folder = Folder::new();
    let (reader, writer) = pipe2(OFlag::O_NONBLOCK).expect("a pipe");
    // The reader has the same flag, and shall wait.
    fcntl(&reader, FcntlArg::F_SETFL(OFlag::empty())).expect("a pipe has flags");
    let mut command = folder.command();
    command.args(["serve", "--listen", "127.0.0.1:0", "--log-strangers", "1000000"]);
    let launched = Launched::start(command.stderr(File::from(writer))).expect("it serves");
    // It holds the end to write.
    drop(command);
    let mut connection = Connection::open(launched.address);
    for _ in 0..REQUESTS {
        let request = format!("GET /{} HTTP/1.1\r\nHost: plants\r\n\r\n", "fern".repeat(50));
        assert_eq!(connection.exchange(request.as_bytes()).status, 404);
    }
    let id = Pid::from_raw(launched.process.id().try_into().expect("a process id"));
    kill(id, Signal::SIGTERM).expect("the process is there");
    let log = BufReader::new(File::from(reader)).lines().map(|line| line.expect("text"));
    let records: Vec<Value> =
        log.map(|line| serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"))).collect();
    assert_eq!(records.iter().filter(|record| record["status"] == 404).count(), REQUESTS);
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
    let long = "f".repeat(41);
    let body = format!(r#"{{"id":1,"colour":"secret","name":"","{long}":0,"a":0,"b":0}}"#);
    let cut = format!("colour,{},a", &long[..40]);
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
fn record_of_a_404_or_405_has_200_bytes_of_path_and_method_as_text() {
    let mut server = Server::start();
    let letters = "f".repeat(1000);
    for request in [
        format!("GET /{letters} HTTP/1.1\r\nHost: plants\r\n\r\n"),
        format!("{letters} /plants HTTP/1.1\r\nHost: plants\r\n\r\n"),
        "7 /7 HTTP/1.1\r\nHost: plants\r\n\r\n".to_owned(),
        "GET http://user:secret@plants/x?y HTTP/1.1\r\nHost: plants\r\n\r\n".to_owned(),
    ] {
        assert!([404, 405].contains(&server.connect().exchange(request.as_bytes()).status));
    }
    server.signal(Signal::SIGTERM);
    server.wait();
    let log = server.log();
    let records = log.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let refused: Vec<_> = records.filter(|record| record["method"].is_string()).collect();
    let member = |index: usize, name: &str| refused[index][name].as_str().expect("text").to_owned();
    assert_eq!((member(0, "path").len(), member(1, "method").len()), (200, 200));
    assert_eq!((member(2, "path").as_str(), member(2, "method").as_str()), ("/7", "7"));
    assert_eq!(member(3, "path"), "http://plants/x");
    assert!(!log.contains("secret"));
}

/// A terminal would interpret these characters. A client may send them in a path.
#[test]
fn text_log_escapes_characters_that_a_terminal_obeys() {
    let mut server = Server::starting().with(&["--log-format", "text"]).start();
    for letter in ["\u{85}", "\u{9b}31m", "\u{202e}", "\u{2066}", "\u{2028}", "\u{200f}"] {
        let request = format!("GET /x{letter}y HTTP/1.1\r\nHost: plants\r\n\r\n");
        let _ = server.connect().exchange(request.as_bytes());
    }
    server.signal(Signal::SIGTERM);
    server.wait();
    let log = server.log();
    assert!(log.contains("/x\\u{9b}31my") && log.contains("/x\\u{202e}y"), "{log}");
    let is_obeyed =
        |letter: &char| letter.is_control() || "\u{202e}\u{2066}\u{2028}".contains(*letter);
    let obeyed: Vec<_> = log.chars().filter(|letter| *letter != '\n').filter(is_obeyed).collect();
    assert!(obeyed.is_empty(), "{obeyed:?}");
}

#[test]
fn strangers_get_so_many_records_a_second_and_a_count_of_the_others() {
    const REQUESTS: u64 = 500;
    let mut server = Server::starting().with(&["--log-strangers", "10"]).start();
    let mut connection = server.connect();
    for _ in 0..REQUESTS / 2 {
        let _ = connection.exchange(b"GET / HTTP/1.1\r\nHost: plants\r\n\r\n");
        let _ = connection.exchange(&post("", b""));
    }
    server.create(&plant(1, "Ficus", None)).plant();
    // The count comes with the first record after its second.
    let counted = |server: &Server| -> u64 {
        let text = server.log();
        let records = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        records.filter_map(|record| record["left_out"].as_u64()).sum()
    };
    let mut more = 0;
    server.wait_until("a count of the records left out", || {
        let _ = connection.exchange(&post("", b""));
        more += 1;
        counted(&server) > 0
    });
    server.signal(Signal::SIGTERM);
    server.wait();
    let log = server.log();
    let written = log
        .lines()
        .filter(|line| line.contains("\"error\":401") || line.contains("\"status\":404"));
    let written = written.count() as u64;
    assert!(written < REQUESTS / 2, "{written}");
    assert!(written + counted(&server) <= REQUESTS + more);
    assert!(log.contains(r#""token":"first""#), "a client with a token always has its record");
}
