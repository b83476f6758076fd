//! What HTTP allows and forbids, and what hyper and Dropshot's router answer themselves, as listed
//! in `WIRE.md`.

use plant_store_tests::prelude::*;

const CHUNKED: &str = "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n";

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

/// If the body ends too early, the server refuses it, or closes the connection without an answer.
#[test]
fn truncated_body_creates_no_plant_and_closes() {
    let server = Server::start();
    let body = plant(1, "Ficus", None);
    let json = format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len() + 1);
    let chunk = format!("{:x}\r\n{body}\r\n", body.len());
    let table = [(&*json, &*body), (CHUNKED, &chunk), (CHUNKED, "5\r\n{\"id\"")];
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
    let fields = |fields: &str| request.replace("Host: plants\r\n", fields);
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

/// Dropshot's router accepts these as `POST /plants`.
#[test]
fn other_spellings_of_the_route_reach_the_operation() {
    let server = Server::start();
    let request = String::from_utf8(server.post(&plant(1, "Ficus", None))).expect("text");
    let targets = ["post /plants", "POST //plants", "POST /plants/", "POST /%70lants?x=//y"];
    each_row(targets, |target| {
        let spelled = request.replace("POST /plants", target);
        server.connect().exchange(spelled.as_bytes()).plant();
        let stranger = format!("{target} HTTP/1.1\r\nHost: plants\r\nContent-Length: 0\r\n\r\n");
        assert_eq!(server.connect().exchange(stranger.as_bytes()).error(), 401);
    });
}
