//! Every value of `error`, as a client gets it, and the headers that go with each.

use std::sync::mpsc;
use std::thread;

use plant_store_tests::{Connection, Response, Server, bearer, head, plant, post};

use crate::database;

type Headers = &'static [(&'static str, &'static str)];

const CHALLENGE: (&str, &str) = ("WWW-Authenticate", r#"Bearer realm="plant-store""#);
const INVALID: (&str, &str) =
    ("WWW-Authenticate", r#"Bearer realm="plant-store", error="invalid_token""#);
const CLOSE: (&str, &str) = ("Connection", "close");
const RETRY_AFTER: (&str, &str) = ("Retry-After", "1");

/// Well-formed, and never issued.
const UNKNOWN_TOKEN: &str = "pst_0123456789ABCDEFGHIJabcdefghij0038H4se";

/// The answer has exactly these of the headers in which refusals differ.
fn assert_headers(answer: &Response, expected: Headers, what: &str) {
    for (name, _) in [CHALLENGE, CLOSE, RETRY_AFTER] {
        let value = expected.iter().find(|(field, _)| *field == name).map(|(_, value)| *value);
        assert_eq!(answer.header(name), value, "{name} of: {what}");
    }
    assert!(answer.header("x-request-id").is_some_and(|id| !id.is_empty()), "{what}");
}

/// A create with these headers and no media type.
fn with(server: &Server, headers: &str, body: &str) -> Vec<u8> {
    let headers = format!("{}Content-Length: {}\r\n{headers}", server.bearer(), body.len());
    (head(&headers) + body).into_bytes()
}

fn coded(server: &Server, body: &str) -> Vec<u8> {
    with(server, "Content-Type: application/json\r\nContent-Encoding: gzip\r\n", body)
}

/// After `Connection: close` the connection is closed; otherwise it takes another request.
fn assert_connection(connection: &mut Connection, answer: &Response, server: &Server) {
    if answer.header("connection") == Some("close") {
        assert!(connection.is_closed());
    } else {
        connection.exchange(&server.post(&plant(1, "Ficus", None))).plant();
    }
}

/// Each body has come with its head, so the connection goes on.
#[test]
fn each_refusal_has_its_error_and_its_headers() {
    let server = Server::starting().with(&["--max-body", "32"]).start();
    server.create(&plant(1, "Ficus", None)).plant();
    let ficus = plant(2, "Ficus", None);
    let cases: [(&str, Vec<u8>, i64, Headers); 10] = [
        ("invalid JSON", server.post("plant"), 400, &[]),
        ("not a NewPlant", server.post("{}"), 400, &[]),
        ("no token", post("", ficus.as_bytes()), 401, &[CHALLENGE]),
        ("no token and no body", head("Content-Length: 0\r\n").into(), 401, &[CHALLENGE]),
        ("a malformed token", post(&bearer("x"), ficus.as_bytes()), 401, &[INVALID]),
        ("an unknown token", post(&bearer(UNKNOWN_TOKEN), b""), 401, &[INVALID]),
        ("a taken id", server.post(&plant(1, "Fern", None)), 409, &[]),
        ("a body over the limit", server.post(&" ".repeat(33)), 413, &[]),
        ("no media type", with(&server, "", &ficus), 415, &[]),
        ("a content coding", coded(&server, &ficus), 415, &[]),
    ];
    for (what, request, error, headers) in cases {
        let mut connection = server.connect();
        let answer = connection.exchange(&request);
        assert_eq!(answer.refusal().0, error, "{what}");
        assert_headers(&answer, headers, what);
        assert_connection(&mut connection, &answer, &server);
    }
    assert_headers(&server.create(&plant(1, "Ficus", None)), &[], "a plant");
}

/// The service waits for no byte of a body that it does not need.
#[test]
fn refusal_before_the_body_has_come_closes_the_connection() {
    let server = Server::starting().with(&["--max-body", "32"]).start();
    let ficus = plant(1, "Ficus", None);
    let cases: [(&str, Vec<u8>, i64, Headers); 4] = [
        ("no token", post("", ficus.as_bytes()), 401, &[CHALLENGE, CLOSE]),
        ("an unknown token", post(&bearer(UNKNOWN_TOKEN), b"{}"), 401, &[INVALID, CLOSE]),
        ("a body over the limit", server.post(&" ".repeat(33)), 413, &[CLOSE]),
        ("a content coding", coded(&server, &ficus), 415, &[CLOSE]),
    ];
    for (what, mut request, error, headers) in cases {
        request.pop();
        let mut connection = server.connect();
        let answer = connection.exchange(&request);
        assert_eq!(answer.refusal().0, error, "{what}");
        assert_headers(&answer, headers, what);
        assert!(connection.is_closed(), "{what}");
    }
}

#[test]
fn incomplete_body_is_408_at_the_deadline() {
    let server = Server::starting().with(&["--body-timeout", "100ms"]).start();
    let mut connection = server.connect();
    let request = server.post(&plant(1, "Ficus", None));
    let (last, all_but_it) = request.split_last().expect("a request");
    let answer = connection.exchange(all_but_it);
    let (error, message) = answer.refusal();
    assert_eq!((error, message.as_str()), (408, "the body did not arrive within 100ms"));
    assert_headers(&answer, &[CLOSE], "408");
    connection.try_send(&[*last]);
    assert!(connection.is_closed());
    assert!(server.export().is_empty());
}

#[test]
fn store_fault_is_500_and_the_log_has_the_cause() {
    let server = Server::start();
    database::drop_plants_table(&server);
    let answer = server.create(&plant(1, "Ficus", None));
    let (error, message) = answer.refusal();
    assert_eq!(error, 500);
    assert_headers(&answer, &[], "500");
    for internal in ["plants", "table", "SQL", "store failed", ".db"] {
        assert!(!message.contains(internal), "{message}");
    }
    server.wait_for_log("the store failed");
    // The operator has the id that the client names, and finds the cause by it.
    let id = answer.header("x-request-id").expect("a request id");
    server.wait_for_log(id);
    let log = server.log();
    let record = log.lines().find(|line| line.contains(id)).expect("a record");
    let record: serde_json::Value = serde_json::from_str(record).expect("JSON");
    let cause = record["cause"].as_str().expect("a cause");
    assert!(cause.contains(database::no_plants_table()), "{cause}");
}

/// The test holds the store's write lock, so the writer waits and the queue fills. A create that
/// finds it full is refused at once. The creates that wait are answered once the lock is released.
#[test]
fn create_that_finds_the_queue_full_is_503_at_once() {
    const CREATES: i64 = 16;
    let server = Server::starting().with(&["--queue", "1"]).start();
    let lock = database::locked(&server);
    let (sender, answers) = mpsc::channel();
    let (refused, created): (Vec<_>, Vec<_>) = thread::scope(|scope| {
        for id in 0..CREATES {
            let (server, sender) = (&server, sender.clone());
            scope.spawn(move || {
                sender
                    .send((id, server.create(&plant(id, "Ficus", None))))
                    .expect("the test receives");
            });
        }
        drop(sender);
        let (first, answer) = answers.recv().expect("an answer while the writer waits");
        assert_eq!(answer.status, 400, "nothing is answered with success before it is durable");
        drop(lock);
        let rest = answers.iter();
        std::iter::once((first, answer)).chain(rest).partition(|(_, answer)| answer.status == 400)
    });
    for (_, answer) in &refused {
        let (error, message) = answer.refusal();
        assert_eq!(error, 503);
        assert!(message.contains("at its limit"), "{message}");
        assert_headers(answer, &[RETRY_AFTER], "503");
    }
    assert!(!created.is_empty(), "the creates that waited are answered");
    let mut created: Vec<_> = created.iter().map(|(id, _)| *id).collect();
    created.sort_unstable();
    assert_eq!(server.export().into_keys().collect::<Vec<_>>(), created);

    for (id, _) in &refused {
        server.create(&plant(*id, "Ficus", None)).plant();
    }
}

#[test]
fn locked_store_is_503_and_the_plant_may_be_sent_again() {
    let server = Server::start();
    let lock = database::locked(&server);
    let answer = server.create(&plant(1, "Ficus", None));
    let (error, message) = answer.refusal();
    assert_eq!(error, 503);
    assert!(message.contains("cannot be reached"), "{message}");
    assert_headers(&answer, &[RETRY_AFTER], "503");
    server.wait_for_log("the store does not take writes");
    assert!(server.export().is_empty());

    drop(lock);
    server.create(&plant(1, "Ficus", None)).plant();
}
