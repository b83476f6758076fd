//! The answers of Dropshot and hyper to requests that do not reach an operation, as listed in
//! `WIRE.md`.

use plant_store_tests::{Response, Server, plant};

/// The library that sent an answer. Its body tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sender {
    /// The body is an object with a message and the id of the request.
    Dropshot,
    /// There is no body.
    Hyper,
}

fn sender(answer: &Response) -> Sender {
    if answer.body.is_empty() {
        assert_eq!(answer.header("x-request-id"), None);
        return Sender::Hyper;
    }
    let body = answer.json();
    assert_eq!(answer.header("x-request-id"), body["request_id"].as_str());
    assert!(body["message"].is_string(), "{body}");
    Sender::Dropshot
}

/// Each request has the accepted token and the body of a plant, but creates none.
#[test]
fn dropshot_and_hyper_answer_what_does_not_reach_the_operation() {
    let server = Server::start();
    let request = String::from_utf8(server.post(&plant(1, "Ficus", None))).expect("text");
    let line = |line: &str| request.replace("POST /plants HTTP/1.1", line);
    let fields = |fields: &str| request.replace("Host: plants\r\n", fields);
    for (request, status, expected) in [
        (line("POST / HTTP/1.1"), 404, Sender::Dropshot),
        (line("POST /plants.json HTTP/1.1"), 404, Sender::Dropshot),
        (line("POST /Plants HTTP/1.1"), 404, Sender::Dropshot),
        (line("POST * HTTP/1.1"), 404, Sender::Dropshot),
        (line("GET /plants HTTP/1.1"), 405, Sender::Dropshot),
        (line("OPTIONS /plants HTTP/1.1"), 405, Sender::Dropshot),
        (line("PLANT /plants HTTP/1.1"), 405, Sender::Dropshot),
        (line("POST /x/../plants HTTP/1.1"), 400, Sender::Dropshot),
        (line("POST /%ff HTTP/1.1"), 400, Sender::Dropshot),
        (line("POST /%zz HTTP/1.1"), 404, Sender::Dropshot),
        (line("POST /%2e%2e/plants HTTP/1.1"), 404, Sender::Dropshot),
        (line("POST /plants"), 400, Sender::Hyper),
        (line("POST /plants HTTP/3.0"), 400, Sender::Hyper),
        (line("\0"), 400, Sender::Hyper),
        (fields("Host plants\r\n"), 400, Sender::Hyper),
        (fields("Content-Length: 1\r\n"), 400, Sender::Hyper),
        (fields("Transfer-Encoding: gzip\r\n"), 400, Sender::Hyper),
        (line(&format!("POST /{} HTTP/1.1", "p".repeat(70_000))), 414, Sender::Hyper),
        (fields(&"A: b\r\n".repeat(101)), 431, Sender::Hyper),
    ] {
        let mut connection = server.connect();
        // The server may close the connection before it has received everything.
        connection.try_send(request.as_bytes());
        let answer = connection.receive();
        assert_eq!((answer.status, sender(&answer)), (status, expected), "{request:.200}");
        let allow = (status == 405).then_some("POST");
        assert_eq!(answer.header("allow"), allow, "{request:.200}");
    }
    assert!(server.export().is_empty());
}

/// Dropshot's router accepts these as `POST /plants`.
#[test]
fn other_spellings_of_the_route_reach_the_operation() {
    let server = Server::start();
    let request = String::from_utf8(server.post(&plant(1, "Ficus", None))).expect("text");
    let (first, rest) = "plants".split_at(1);
    let encoded = format!("POST /%{:x}{rest}", first.as_bytes()[0]);
    for target in ["post /plants", "POST //plants", "POST /plants/", &encoded, "POST /plants?x=//y"]
    {
        let spelled = request.replace("POST /plants", target);
        server.connect().exchange(spelled.as_bytes()).plant();
        let stranger = format!("{target} HTTP/1.1\r\nHost: plants\r\nContent-Length: 0\r\n\r\n");
        assert_eq!(server.connect().exchange(stranger.as_bytes()).error(), 401, "{target}");
    }
}
