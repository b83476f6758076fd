//! Every refusal: its `error`, its headers, and whether it waits for the body. And what is not
//! refused, or is answered by hyper and Dropshot's router, as listed in `WIRE.md`.

use plant_store_tests::JSON;
use plant_store_tests::prelude::*;

use crate::database;

const FICUS: &str = r#"{"id":100,"name":"Ficus"}"#;

/// The challenge of a request without a token, and that of any other request.
const NONE: &str = r#"Bearer realm="plant-store""#;
const INVALID: &str = r#"Bearer realm="plant-store", error="invalid_token""#;

/// A well-formed token that was never issued.
const UNKNOWN: &str = "pst_0123456789ABCDEFGHIJabcdefghij0038H4se";

/// The part of a request that differs from a good one.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    /// The method and the path.
    Target,
    Body,
    /// The lines of the head that say what the body is.
    Type,
    /// The lines of the head with the token.
    Token,
}
use Part::{Body, Target, Token, Type};

/// Returns the head without its last line, and the body, of a request with this text as one of its
/// parts. Each character of the text is one byte.
fn request(server: &Server, part: Part, text: &str) -> [Vec<u8>; 2] {
    let good = |good_part, good: &str| if part == good_part { text } else { good }.to_owned();
    let body = good(Body, FICUS);
    let length = format!("Content-Length: {}\r\n", body.chars().count());
    let fields = good(Type, JSON) + &good(Token, &server.bearer());
    let target = good(Target, "POST /plants");
    let head = format!("{target} HTTP/1.1\r\nHost: plants\r\n{length}{fields}");
    [head, body].map(|text| text.chars().map(|letter| letter as u8).collect())
}

/// Asserts that of the headers in which refusals differ, the answer has exactly these.
fn assert_headers(answer: &Response, challenge: Option<&str>, close: bool, retry: bool) {
    assert_eq!(answer.header("www-authenticate"), challenge, "{answer:?}");
    assert_eq!(answer.header("connection"), close.then_some("close"), "{answer:?}");
    assert_eq!(answer.header("retry-after"), retry.then_some("1"), "{answer:?}");
    assert!(answer.header("x-request-id").is_some_and(|id| !id.is_empty()), "{answer:?}");
}

/// A request that is refused.
#[derive(Clone, Debug)]
struct Refused {
    part: Part,
    text: String,
    error: i64,
    /// A part of the message. For a 401, the challenge.
    expected: &'static str,
}

fn rows(part: Part, error: i64, expected: &'static str, texts: &[impl AsRef<str>]) -> Vec<Refused> {
    let texts = texts.iter().map(|text| text.as_ref().to_owned());
    texts.map(|text| Refused { part, text, error, expected }).collect()
}

#[rustfmt::skip]
fn refused(token: &str) -> Vec<Refused> {
    let tokens = |challenge, values: &[&str]| {
        let line = |value: &&str| format!("Authorization: {}\r\n", value.replace("TOKEN", token));
        rows(Token, 401, challenge, &values.iter().map(line).collect::<Vec<_>>())
    };
    let ids = ["null", "\"1\"", "1.0", "1e3", "-0", "9223372036854775808", "-9223372036854775809"];
    let ids = ids.map(|id| format!(r#"{{"id":{id},"name":""}}"#));
    let (start, end) = token.split_at(41);
    let other = if end == "0" { "1" } else { "0" };
    [
        rows(Body, 400, "object", &["", r#"[1,"Ficus"]"#, "\"Ficus\"", "null"]),
        rows(Body, 400, "object", &["\u{ef}\u{bb}\u{bf}{\"id\":1,\"name\":\"\"}"]),
        rows(Body, 400, "column", &["{", r#"{"id":1,"name":""}{}"#, r#"{"id":01,"name":""}"#]),
        rows(Body, 400, "`x`", &[r#"{"id":1,"name":"","x":[1,]}"#]),
        rows(Body, 400, "byte 17", &["{\"id\":1,\"name\":\"\u{ff}\"}"]),
        rows(Body, 400, "byte 24", &["{\"id\":1,\"name\":\"\",\"x\":\"\u{ed}\u{a0}\u{80}\"}"]),
        rows(Body, 400, "`id`", &["{}", r#"{"id":1,"name":"","id":1}"#]),
        rows(Body, 400, "`id`", &ids),
        rows(Body, 400, "`name`", &[r#"{"id":1,"Name":""}"#, r#"{"id":1,"name":"\ud800"}"#]),
        rows(Body, 400, "`name`", &[r#"{"id":1,"name":"","n\u0061me":""}"#]),
        rows(Body, 400, "`tag`", &[r#"{"id":1,"name":"","tag":null}"#]),
        rows(Body, 409, "plant 100", &[r#"{"id":100,"name":"Ficus","tag":""}"#]),
        rows(Body, 413, "100 bytes", &[&" ".repeat(101)]),
        rows(Type, 415, "application/json", &["", "Content-Type:\r\n"]),
        rows(Type, 415, "application/json", &["Content-Type: application/jsonx\r\n"]),
        rows(Type, 415, "application/json", &[&JSON.repeat(2)]),
        rows(Type, 415, "Content-Encoding", &[&format!("{JSON}Content-Encoding: identity\r\n")]),
        rows(Token, 401, NONE, &[""]),
        tokens(NONE, &["", "TOKEN", "Basic TOKEN", "Bearer,TOKEN", "Bearer\tTOKEN", "BearerTOKEN"]),
        tokens(INVALID, &["Bearer", "Bearer  \tTOKEN", "Bearer TOKEN TOKEN", "Bearer TOKEN\u{e9}"]),
        tokens(INVALID, &[&format!("Bearer {start}"), &format!("Bearer {start}{other}")]),
        tokens(INVALID, &[&format!("Bearer {}", token.to_lowercase()), "Bearer pst_secret"]),
        tokens(INVALID, &["Bearer TOKEN\r\nAuthorization: Basic YTpi"]),
        tokens(INVALID, &[&format!("Bearer {UNKNOWN}")]),
    ]
    .concat()
}

/// If the whole body arrives with the head, the connection stays open, and the body is not read as
/// the next request. If bytes are missing, the service waits for them only to refuse what they say,
/// and it does not ask for them either (`100 Continue`).
#[test]
fn every_refusal_has_its_error_and_its_headers() {
    let server = Server::starting().with(&["--max-body", "100"]).start();
    server.create(FICUS).plant();
    each_row(refused(&server.token), |Refused { part, text, error, expected }| {
        let challenge = (error == 401).then_some(expected);
        let assert_refused = |answer: &Response, close| {
            let (code, message) = answer.refusal();
            assert_eq!((answer.status, code), (400, error), "{message}");
            assert_headers(answer, challenge, close, false);
            let is_named = challenge.is_some() || message.contains(expected);
            assert!(is_named && !message.contains("secret"), "{message}");
            assert!(!message.contains(&server.token[4..]), "{message}");
        };
        let [head, body] = request(&server, part, &text);
        let whole = [&head, &b"\r\n"[..], &body].concat();
        let mut connection = server.connect();
        assert_refused(&connection.exchange(&whole), false);
        connection.exchange(&server.post(FICUS)).plant();
        if [401, 413, 415].contains(&error) {
            let expecting = [&head, &b"Expect: 100-continue\r\n\r\n"[..]].concat();
            for part in [&whole[..head.len() + 2], &expecting, &whole[..whole.len() - 1]] {
                let mut unfinished = server.connect();
                assert_refused(&unfinished.exchange(part), true);
                unfinished.expect_closed("after a refusal before the end of a body");
            }
        }
    });
    assert_headers(&server.create(FICUS), None, false, false);
    assert!(server.export().into_keys().eq([100]));
}

#[test]
fn every_spelling_of_a_request_is_accepted() {
    let server = Server::start();
    let deep = format!(r#"{{"id":9,"name":"","x":{}{}}}"#, "[".repeat(30_000), "]".repeat(30_000));
    let bodies = [
        (r#"{"id":-9223372036854775808,"name":""}"#, json!({ "id": i64::MIN, "name": "" })),
        (r#"{"id":9223372036854775807,"name":""}"#, json!({ "id": i64::MAX, "name": "" })),
        (r#"{"name":"last","tag":"","id":1}"#, json!({ "id": 1, "name": "last", "tag": "" })),
        // The same plant again.
        (
            r#"{"id":1,"t\u0061g":"","name":"l\u0061st"}"#,
            json!({ "id": 1, "name": "last", "tag": "" }),
        ),
        ("\r\n\t {\n\"id\" : 2 ,\"name\" : \"wide\" } \n", json!({ "id": 2, "name": "wide" })),
        (r#"{"\u0069d":3,"n\u0061me":"\u0000\ud83c\udf31"}"#, json!({ "id": 3, "name": "\0🌱" })),
        (r#"{"id":4,"name":"","ID":"x","Tag":null,"":[1e999]}"#, json!({ "id": 4, "name": "" })),
        // Unknown members may occur twice, and are not decoded (RFC 8259, section 8.2).
        (r#"{"id":5,"name":"","x":1,"x":{"y":1,"y":2}}"#, json!({ "id": 5, "name": "" })),
        (r#"{"id":6,"name":"","x":"\ud800"}"#, json!({ "id": 6, "name": "" })),
        (&deep, json!({ "id": 9, "name": "" })),
    ];
    let bodies = bodies.map(|(body, plant)| (Body, body.to_owned(), plant));
    let targets = ["post /plants", "POST //plants", "POST /plants/", "POST /%70lants?x=//y"];
    let types = ["", "; charset=utf-8", "; charset=latin1", ";charset=\"UTF-8\"", " ; x=y"];
    let types = types.map(|parameter| format!("Content-Type: Application/JSON{parameter}\r\n"));
    let schemes = ["Bearer", "bearer", "BEARER", "bEaReR  ", "Bearer      "];
    let schemes = schemes.map(|scheme| format!("Authorization: {scheme} {}\r\n", server.token));
    let ficus = |part| move |text| (part, text, json!({ "id": 100, "name": "Ficus" }));
    let rows = bodies.into_iter().chain(targets.map(str::to_owned).map(ficus(Target)));
    let rows = rows.chain(types.map(ficus(Type))).chain(schemes.map(ficus(Token)));
    each_row(rows, |(part, text, plant)| {
        let [head, body] = request(&server, part, &text);
        let answer = server.connect().exchange(&[head, b"\r\n".to_vec(), body].concat());
        let mut created = answer.plant();
        created["id"] = plant["id"].clone();
        assert_eq!(created, plant);
        let id = plant["id"].as_i64().expect("an id");
        assert_eq!(json!(server.export()[&id]), plant);
    });
}

/// A message may repeat a value, but not the middle of a long one. The record in the log contains
/// only the place.
#[test]
fn long_message_is_shortened_and_its_record_contains_no_value() {
    let server = Server::start();
    let body = format!(r#"{{"id":"{}","name":""}}"#, "secret".repeat(100));
    let answer = server.create(&body);
    let (_, message) = answer.refusal();
    assert!(message.starts_with("`id`") && message.ends_with("column 608"), "{message}");
    assert_eq!(message.chars().count(), 200);
    let record = server.record_of(&answer);
    assert!(record["cause"].as_str().is_some_and(|cause| cause.contains("`id`")), "{record}");
    assert!(!server.log().contains("secret"));
}

/// The deadline applies to the whole body, not to each byte: a client that sends bytes until it
/// gets an answer gets one.
#[test]
fn incomplete_body_at_the_deadline_is_408() {
    let server = Server::starting().with(&["--body-timeout", "300ms"]).start();
    for drips in [false, true] {
        let mut connection = server.connect();
        let request = server.post(&(FICUS.to_owned() + &" ".repeat(60_000)));
        connection.send(&request[..request.len() - 60_000]);
        let mut sender = connection.sender();
        let dripping = thread::spawn(move || {
            while drips && sender.try_send(b" ") {
                thread::sleep(Duration::from_millis(5));
            }
        });
        let answer = connection.receive();
        let (error, message) = answer.refusal();
        assert!(error == 408 && message.contains("300ms"), "{error} {message}");
        assert_headers(&answer, None, true, true);
        connection.expect_closed("after a 408");
        dripping.join().expect("the server has closed the connection");
    }
    assert!(server.export().is_empty());
}

/// The message contains nothing internal. The operator finds the cause by the request id.
#[test]
fn store_fault_is_500_with_its_cause_in_the_log() {
    let server = Server::start();
    database::execute(&server, "DROP TABLE plants");
    let answer = server.create(FICUS);
    let (error, message) = answer.refusal();
    assert_eq!(error, 500);
    assert_headers(&answer, None, false, true);
    for internal in ["plants", "table", "SQL", "store failed", ".db"] {
        assert!(!message.contains(internal), "{message}");
    }
    let record = server.record_of(&answer);
    let cause = record["cause"].as_str().expect("a cause");
    assert!(cause.contains(database::no_plants_table()), "{cause}");
}

/// If the body ends too early, the server refuses it, or closes the connection without an answer.
#[test]
fn truncated_body_creates_no_plant_and_closes() {
    let server = Server::start();
    let body = plant(1, "Ficus", None);
    let chunked = format!("{JSON}Transfer-Encoding: chunked\r\n");
    let json = format!("{JSON}Content-Length: {}\r\n", body.len() + 1);
    let chunk = format!("{:x}\r\n{body}\r\n", body.len());
    let table = [(&*json, &*body), (&chunked, &chunk), (&chunked, "5\r\n{\"id\"")];
    each_row(table, |(headers, sent)| {
        let mut connection = server.connect();
        connection.send((head(&(server.bearer() + headers)) + sent).as_bytes());
        connection.finish_sending();
        assert!(connection.try_receive().is_none_or(|answer| answer.error() == 400));
        connection.expect_closed("after such a body");
    });
    assert!(server.export().is_empty());
}

/// Each row has a request with the accepted token and the body of a plant, which creates none, the
/// status, and whether Dropshot answers it. hyper sends no body.
#[test]
fn dropshot_and_hyper_answer_what_does_not_reach_the_operation() {
    let server = Server::start();
    let request = String::from_utf8(server.post(&plant(1, "Ficus", None))).expect("text");
    let line = |line: &str| request.replace("POST /plants HTTP/1.1", line);
    let fields = |fields: &str| request.replace("Host: test\r\n", fields);
    let table = [
        (line("POST / HTTP/1.1"), 404, true),
        (line("GET /plants HTTP/1.1"), 405, true),
        (line("POST /x/../plants HTTP/1.1"), 400, true),
        (line("POST /%ff HTTP/1.1"), 400, true),
        (line("POST /%zz HTTP/1.1"), 404, true),
        (line("POST /%2e%2e/plants HTTP/1.1"), 404, true),
        (line("\0"), 400, false),
        (fields("Content-Length: 1\r\n"), 400, false),
        (line(&format!("POST /{} HTTP/1.1", "p".repeat(70_000))), 414, false),
        (fields(&"A: b\r\n".repeat(101)), 431, false),
    ];
    each_row(table, |(request, status, is_dropshot)| {
        let mut connection = server.connect();
        // The server may close the connection before it has received everything.
        connection.try_send(request.as_bytes());
        let answer = connection.receive();
        assert_eq!((answer.status, !answer.body.is_empty()), (status, is_dropshot), "{answer:?}");
        assert_eq!(answer.header("allow"), (status == 405).then_some("POST"));
        let id = answer.header("x-request-id");
        assert_eq!(id.is_some(), is_dropshot);
        if is_dropshot {
            let body = answer.json();
            assert_eq!((id, body["message"].is_string()), (body["request_id"].as_str(), true));
        }
    });
    assert!(server.export().is_empty());
}
