//! What is checked before the credentials: the one route, byte for byte, and what RFC 9112 demands
//! of a head.

use plant_store_tests::{Server, plant};
use serde_json::json;

const JSON: &str = "Content-Type: application/json\r\n";

/// A request with that line and these header lines, the accepted token, and the body of a plant.
fn request(server: &Server, line: &str, headers: &str) -> Vec<u8> {
    let body = plant(1, "Ficus", None);
    let length = body.len();
    let token = server.bearer();
    format!("{line}\r\n{headers}{token}{JSON}Content-Length: {length}\r\n\r\n{body}").into_bytes()
}

#[test]
fn other_spellings_of_the_route_are_refused_and_create_nothing() {
    let server = Server::start();
    for (target, status) in [
        ("POST //plants", 404),
        ("POST /plants/", 404),
        ("POST ///plants///", 404),
        ("POST /./plants", 400),
        ("POST /x/../plants", 400),
        ("POST /%70lants", 404),
        ("POST /plants%2f", 404),
        ("POST /PLANTS", 404),
        ("POST /plants;x", 404),
        ("post /plants", 405),
        ("pOsT /plants", 405),
        ("Post /plants", 405),
        ("post //plants", 404),
    ] {
        let mut connection = server.connect();
        let request = request(&server, &format!("{target} HTTP/1.1"), "Host: plants\r\n");
        let answer = connection.exchange(&request);
        assert_eq!(answer.status, status, "{target}");
        assert_eq!(answer.header("allow"), (status == 405).then_some("POST"), "{target}");
        assert!(answer.header("x-request-id").is_some(), "{target}");
        // As Dropshot's own: an object with a message and the request's id.
        let body = answer.json();
        let names: Vec<_> = body.as_object().expect("an object").keys().collect();
        assert_eq!(names, ["message", "request_id"], "{target}");
    }
    assert!(server.export().is_empty());
}

#[test]
fn any_query_and_the_absolute_form_are_the_route() {
    let server = Server::start();
    for target in ["/plants?", "/plants?x=/y", "/plants?//", "http://plants/plants"] {
        let line = format!("POST {target} HTTP/1.1");
        let answer = server.connect().exchange(&request(&server, &line, "Host: plants\r\n"));
        assert_eq!(answer.plant(), json!({ "name": "Ficus" }), "{target}");
    }
}

/// RFC 9112, section 3.2.
#[test]
fn missing_repeated_or_malformed_host_is_400_before_the_credentials_and_closes() {
    let server = Server::start();
    for host in [
        "",
        "Host: plants\r\nHost: plants\r\n",
        "Host:\r\n",
        "Host: a b\r\n",
        "Host: plants/\r\n",
        "Host: user@plants\r\n",
        "Host: plants:x\r\n",
        "Host: plants:65536\r\n",
        "Host: plants:+80\r\n",
        "Host: plants:-80\r\n",
        "Host: [::1\r\n",
        "Host: plants, plants\r\n",
        "Host: \u{e9}\r\n",
    ] {
        let with_token = request(&server, "POST /plants HTTP/1.1", host);
        let without = format!("POST /plants HTTP/1.1\r\n{host}Content-Length: 0\r\n\r\n");
        for request in [with_token, without.into_bytes()] {
            let mut connection = server.connect();
            let answer = connection.exchange(&request);
            let (error, message) = answer.refusal();
            assert_eq!(error, 400, "{host:?}");
            assert!(message.contains("one `Host` header"), "{message}");
            assert_eq!(answer.header("www-authenticate"), None, "{host:?}");
            assert!(connection.is_closed(), "{host:?}");
        }
    }
    assert!(server.export().is_empty());
}

#[test]
fn valid_host_is_accepted_and_http_1_0_needs_none() {
    let server = Server::start();
    for host in ["plants", "plants:80", "127.0.0.1:8080", "[::1]", "[::1]:80", "PLANTS.example."] {
        let headers = format!("Host: {host}\r\n");
        let request = request(&server, "POST /plants HTTP/1.1", &headers);
        server.connect().exchange(&request).plant();
    }
    let request = request(&server, "POST /plants HTTP/1.0", "");
    server.connect().exchange(&request).plant();
}

/// RFC 9112, section 6.1.
#[test]
fn transfer_coding_other_than_chunked_is_400_before_the_credentials_and_closes() {
    let server = Server::start();
    let body = plant(1, "Ficus", None);
    let chunked = format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    for coding in [
        "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: chunked, chunked\r\n",
        "Transfer-Encoding: identity, chunked\r\n",
        "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
    ] {
        for token in [server.bearer(), String::new()] {
            let mut connection = server.connect();
            let head =
                format!("POST /plants HTTP/1.1\r\nHost: plants\r\n{token}{JSON}{coding}\r\n");
            let answer = connection.exchange((head + &chunked).as_bytes());
            let (error, message) = answer.refusal();
            assert_eq!(error, 400, "{coding:?}");
            assert!(message.contains("`Transfer-Encoding`"), "{message}");
            assert!(connection.is_closed(), "{coding:?}");
        }
    }
    // The last one is not `chunked`: the HTTP library refuses it, without a body.
    for coding in ["gzip", "identity", "chunked, gzip", "chunkedx"] {
        let mut connection = server.connect();
        let head =
            format!("POST /plants HTTP/1.1\r\nHost: plants\r\nTransfer-Encoding: {coding}\r\n\r\n");
        assert_eq!(connection.exchange(head.as_bytes()).status, 400, "{coding}");
        assert!(connection.is_closed(), "{coding}");
    }
    assert!(server.export().is_empty());

    for coding in ["chunked", "CHUNKED", " chunked "] {
        let token = server.bearer();
        let head = format!(
            "POST /plants HTTP/1.1\r\nHost: plants\r\n{token}{JSON}Transfer-Encoding:{coding}\r\n\r\n"
        );
        server.connect().exchange((head + &chunked).as_bytes()).plant();
    }
}
