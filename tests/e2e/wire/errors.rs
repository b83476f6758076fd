//! Every value of `error` and the headers that a client gets with it.

use std::thread;
use std::time::Duration;

use plant_store_tests::{Response, Server, bearer, head, plant, post};

use super::logs::record_of;
use crate::database;

/// The name and the value of a header field.
type Field = (&'static str, &'static str);

const CHALLENGE: Field = ("WWW-Authenticate", r#"Bearer realm="plant-store""#);
const INVALID: Field = ("WWW-Authenticate", r#"Bearer realm="plant-store", error="invalid_token""#);
const CLOSE: Field = ("Connection", "close");
const RETRY_AFTER: Field = ("Retry-After", "1");

/// A well-formed token that was never issued.
const UNKNOWN_TOKEN: &str = "pst_0123456789ABCDEFGHIJabcdefghij0038H4se";

/// Asserts that of the headers in which refusals differ, the answer has exactly these.
fn assert_headers(answer: &Response, expected: &[Field], what: &str) {
    for (name, _) in [CHALLENGE, CLOSE, RETRY_AFTER] {
        let value = expected.iter().find(|(field, _)| *field == name).map(|(_, value)| *value);
        assert_eq!(answer.header(name), value, "{name} of: {what}");
    }
    assert!(answer.header("x-request-id").is_some_and(|id| !id.is_empty()), "{what}");
}

/// Returns a create with the accepted token, these headers and `Content-Length`.
pub fn create_with_headers(server: &Server, headers: &str, body: &str) -> Vec<u8> {
    let headers = format!("{}Content-Length: {}\r\n{headers}", server.bearer(), body.len());
    (head(&headers) + body).into_bytes()
}

fn coded(server: &Server, body: &str) -> Vec<u8> {
    let headers = "Content-Type: application/json\r\nContent-Encoding: gzip\r\n";
    create_with_headers(server, headers, body)
}

/// A request that is refused, and the expected answer.
struct Refused {
    what: &'static str,
    request: Vec<u8>,
    error: i64,
    /// The header that goes with this `error`.
    header: Option<Field>,
    /// Whether the service refuses the request before the last byte of its body has arrived.
    is_refused_unread: bool,
}

fn each_refused(server: &Server) -> [Refused; 10] {
    let ficus = plant(2, "Ficus", None);
    [
        Refused {
            what: "invalid JSON",
            request: server.post("plant"),
            error: 400,
            header: None,
            is_refused_unread: false,
        },
        Refused {
            what: "not a NewPlant",
            request: server.post("{}"),
            error: 400,
            header: None,
            is_refused_unread: false,
        },
        Refused {
            what: "no token",
            request: post("", ficus.as_bytes()),
            error: 401,
            header: Some(CHALLENGE),
            is_refused_unread: true,
        },
        Refused {
            what: "neither token nor body",
            request: head("Content-Length: 0\r\n").into(),
            error: 401,
            header: Some(CHALLENGE),
            is_refused_unread: false,
        },
        Refused {
            what: "a malformed token",
            request: post(&bearer("x"), ficus.as_bytes()),
            error: 401,
            header: Some(INVALID),
            is_refused_unread: true,
        },
        Refused {
            what: "an unknown token",
            request: post(&bearer(UNKNOWN_TOKEN), b"{}"),
            error: 401,
            header: Some(INVALID),
            is_refused_unread: true,
        },
        Refused {
            what: "a taken id",
            request: server.post(&plant(1, "Fern", None)),
            error: 409,
            header: None,
            is_refused_unread: false,
        },
        Refused {
            what: "a body over the limit",
            request: server.post(&" ".repeat(33)),
            error: 413,
            header: None,
            is_refused_unread: true,
        },
        Refused {
            what: "no media type",
            request: create_with_headers(server, "", &ficus),
            error: 415,
            header: None,
            is_refused_unread: true,
        },
        Refused {
            what: "a content coding",
            request: coded(server, &ficus),
            error: 415,
            header: None,
            is_refused_unread: true,
        },
    ]
}

/// If the whole body arrives with the head, the connection stays open. If the last byte is missing,
/// the service does not wait for it, unless it refuses the content of the body.
#[test]
fn each_refusal_has_its_error_and_its_headers() {
    let server = Server::starting().with(&["--max-body", "32"]).start();
    server.create(&plant(1, "Ficus", None)).plant();
    for Refused { what, request, error, header, is_refused_unread } in each_refused(&server) {
        let mut connection = server.connect();
        let answer = connection.exchange(&request);
        assert_eq!(answer.error(), error, "{what}");
        assert_headers(&answer, header.as_slice(), what);
        connection.exchange(&server.post(&plant(1, "Ficus", None))).plant();
        if is_refused_unread {
            let mut unfinished = server.connect();
            let answer = unfinished.exchange(&request[..request.len() - 1]);
            assert_eq!(answer.error(), error, "{what}");
            let headers: Vec<_> = header.into_iter().chain([CLOSE]).collect();
            assert_headers(&answer, &headers, what);
            unfinished.expect_closed(what);
        }
    }
    assert_headers(&server.create(&plant(1, "Ficus", None)), &[], "a plant");
}

/// The deadline applies to the whole body, not to each byte.
#[test]
fn incomplete_body_at_the_deadline_is_408() {
    let server = Server::starting().with(&["--body-timeout", "300ms"]).start();
    for (missing, sent) in [(1, 0), (200, 200)] {
        let mut connection = server.connect();
        let request = server.post(&(plant(1, "Ficus", None) + &" ".repeat(200)));
        connection.send(&request[..request.len() - missing]);
        let mut sender = connection.sender();
        thread::scope(|scope| {
            scope.spawn(move || {
                for _ in 0..sent {
                    thread::sleep(Duration::from_millis(5));
                    sender.try_send(b" ");
                }
            });
            let answer = connection.receive();
            let expected = (408, "the body did not arrive within 300ms".to_owned());
            assert_eq!(answer.refusal(), expected);
            assert_headers(&answer, &[CLOSE, RETRY_AFTER], "408");
            connection.expect_closed("after a 408");
        });
    }
    assert!(server.export().is_empty());
}

/// The message contains nothing internal. The operator finds the cause in the log.
#[test]
fn store_fault_is_500_with_its_cause_in_the_log() {
    let server = Server::start();
    database::drop_plants_table(&server);
    let answer = server.create(&plant(1, "Ficus", None));
    let (error, message) = answer.refusal();
    assert_eq!(error, 500);
    assert_headers(&answer, &[RETRY_AFTER], "500");
    for internal in ["plants", "table", "SQL", "store failed", ".db"] {
        assert!(!message.contains(internal), "{message}");
    }
    server.wait_for_log("the store failed");
    // The operator finds the record by the request id.
    let record = record_of(&server, &answer);
    let cause = record["cause"].as_str().expect("a cause");
    assert!(cause.contains(database::no_plants_table()), "{cause}");
}

/// A create that waits for longer than `--store-timeout` is refused, and can be sent again.
#[test]
fn create_on_a_locked_store_is_503_after_store_timeout() {
    let server = Server::starting().with(&["--store-timeout", "1s"]).start();
    let lock = database::locked(&server);
    let answer = server.create(&plant(1, "Ficus", None));
    assert_eq!(answer.error(), 503);
    assert_headers(&answer, &[RETRY_AFTER], "503");
    assert!(server.export().is_empty());

    drop(lock);
    server.create(&plant(1, "Ficus", None)).plant();
}
