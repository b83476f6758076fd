//! Framing of requests: what HTTP allows and what it forbids.

use plant_store_tests::{Server, bearer, head, plant};
use reqwest::Version;

const JSON: &str = "Content-Type: application/json\r\n";
const CHUNKED: &str = "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n";

#[test]
fn chunked_body_is_accepted() {
    let server = Server::start();
    let mut connection = server.connect();
    connection.send(head(&(server.bearer() + CHUNKED)).as_bytes());
    for byte in plant(1, "Ficus", None).bytes() {
        connection.send(&[b"1\r\n", [byte].as_slice(), b"\r\n"].concat());
    }
    let answer = connection.exchange(b"0\r\nTrailer: ignored\r\n\r\n");
    assert_eq!(answer.plant()["name"], "Ficus");
    connection.exchange(&server.post(&plant(1, "Ficus", None))).plant();
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let server = Server::start();
    let is_bad = |id: i64| id % 5 == 4;
    let name = |id| format!("plant {id}");
    let body = |id| if is_bad(id) { "{}".to_owned() } else { plant(id, &name(id), None) };
    let mut connection = server.connect();
    connection.send(&(0..50).flat_map(|id| server.post(&body(id))).collect::<Vec<_>>());
    for id in 0..50 {
        let answer = connection.receive();
        if is_bad(id) {
            assert_eq!(answer.error(), 400);
        } else {
            assert_eq!(answer.plant()["name"], name(id));
        }
    }
}

/// hyper itself answers bytes that are not HTTP. It must not do so in the middle of an answer.
#[test]
fn refusal_is_complete_before_hyper_answers_malformed_bytes() {
    const CHUNKED_BODY: &str = "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n";
    let server = Server::start();
    for (request, status) in [
        (format!("POST /ferns HTTP/1.1\r\nHost: plants\r\n{CHUNKED_BODY}"), 404),
        ("GET /plants HTTP/1.1\r\nHost: plants\r\n\r\n".to_owned(), 405),
        (head("Content-Length: 2\r\n") + "{}", 400),
    ] {
        for _ in 0..50 {
            let mut connection = server.connect();
            connection.send((request.clone() + "\0\r\n\r\n").as_bytes());
            let refusal = connection.receive();
            assert_eq!(refusal.status, status);
            assert!(refusal.json()["message"].is_string());
            let last = connection.receive();
            assert_eq!((last.status, last.body.len()), (400, 0), "{last:?}");
        }
    }
}

/// The refused body looks like a request. If it arrives with its head, the next request is the one
/// after the body. If one byte of the body is missing, there is no next request.
#[test]
fn refused_body_is_never_read_as_a_request() {
    let server = Server::start();
    let [smuggled, next] = [1, 2].map(|id| server.post(&plant(id, "Ficus", None)));
    for (sent, missing) in [(&[smuggled.clone(), next].concat(), 0), (&smuggled, 1)] {
        let length = smuggled.len() + missing;
        let refused = format!("{}Content-Length: {length}\r\n", bearer("x"));
        let mut connection = server.connect();
        connection.send(&[head(&refused).as_bytes(), sent].concat());
        assert_eq!(connection.receive().error(), 401);
        if missing == 0 {
            connection.receive().plant();
        } else {
            connection.expect_closed("a body that is not complete");
        }
    }
    assert!(server.export().into_keys().eq([2]));
}

/// In HTTP/2, the refusal of an unread body ends the stream, not the connection, so the next
/// request is answered.
#[tokio::test]
async fn http_2_with_prior_knowledge_works() {
    let server = Server::start();
    let client = reqwest::Client::builder().http2_prior_knowledge().build().expect("a client");
    let body = plant(1, "Ficus", None);
    for (token, expected) in [("x", "{\"error\":401,"), (&server.token, "{\"name\":\"Ficus\"")] {
        for _ in 0..2 {
            let request = client.post(format!("{}/plants", server.url)).bearer_auth(token);
            let request = request.header("content-type", "application/json").body(body.clone());
            let answer = request.send().await.expect("an answer");
            assert_eq!(answer.version(), Version::HTTP_2);
            let answer = answer.text().await.expect("a body");
            assert!(answer.starts_with(expected), "{answer}");
        }
    }
}

/// A malformed chunk is refused immediately. If the body ends too early, the server may also close
/// the connection without an answer.
#[test]
fn truncated_or_malformed_body_creates_no_plant_and_closes() {
    let server = Server::start();
    let body = plant(1, "Ficus", None);
    let declared = format!("{JSON}Content-Length: {}\r\n", body.len() + 1);
    let chunk = format!("{:x}\r\n{body}\r\n", body.len());
    for (headers, sent, is_truncated) in [
        (&*declared, &*body, true),
        (CHUNKED, &chunk, true),
        (CHUNKED, "5\r\n{\"id\"", true),
        (CHUNKED, "x\r\n{}\r\n0\r\n\r\n", false),
        (CHUNKED, "-1\r\n\r\n", false),
        (CHUNKED, "ffffffffffffffffff\r\n", false),
    ] {
        let mut connection = server.connect();
        connection.send((head(&(server.bearer() + headers)) + sent).as_bytes());
        if is_truncated {
            connection.finish_sending();
        }
        let answer = connection.try_receive();
        assert!(answer.is_some() || is_truncated, "{sent:?}");
        if let Some(answer) = answer {
            let (error, message) = answer.refusal();
            assert!(
                error == 400 && message.contains("it ended early, or one of its chunks"),
                "{sent:?}: {message}"
            );
        }
        connection.expect_closed(&format!("{sent:?}"));
    }
    assert!(server.export().is_empty());
}
