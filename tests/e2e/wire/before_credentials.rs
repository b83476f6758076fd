//! What is checked before the credentials: the one route, byte for byte, and what RFC 9112 demands
//! of a head.

use plant_store_tests::{Server, plant};

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
fn any_query_the_absolute_form_and_any_valid_host_are_the_route() {
    let server = Server::start();
    let assert_created = |line: &str, host: &str| {
        let answer = server.connect().exchange(&request(&server, line, host));
        assert_eq!(answer.plant()["name"], "Ficus", "{line} {host}");
    };
    for target in ["/plants?", "/plants?x=/y", "/plants?//", "http://plants/plants"] {
        assert_created(&format!("POST {target} HTTP/1.1"), "Host: plants\r\n");
    }
    for host in ["plants:80", "127.0.0.1:8080", "[::1]", "[::1]:80", "PLANTS.example."] {
        assert_created("POST /plants HTTP/1.1", &format!("Host: {host}\r\n"));
    }
    assert_created("POST /plants HTTP/1.0", "");
}

/// RFC 9112, sections 3.2 and 6.1.
#[test]
fn malformed_host_or_transfer_coding_is_400_before_the_credentials_and_closes() {
    let server = Server::start();
    let body = plant(1, "Ficus", None);
    let chunked = format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    let hosts = [
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
    ];
    let of_host = hosts.map(|host| (format!("{host}Content-Length: 0\r\n"), "one `Host` header"));
    let codings = [
        "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: chunked, chunked\r\n",
        "Transfer-Encoding: identity, chunked\r\n",
        "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
    ];
    let of_coding =
        codings.map(|coding| (format!("Host: plants\r\n{coding}"), "`Transfer-Encoding`"));
    for (headers, expected) in of_host.into_iter().chain(of_coding) {
        for token in [server.bearer(), String::new()] {
            let mut connection = server.connect();
            let head = format!("POST /plants HTTP/1.1\r\n{headers}{token}{JSON}\r\n");
            let body = if headers.contains("chunked") { &chunked } else { "" };
            let answer = connection.exchange((head + body).as_bytes());
            let (error, message) = answer.refusal();
            assert_eq!(error, 400, "{headers:?}");
            assert!(message.contains(expected), "{message}");
            assert_eq!(answer.header("www-authenticate"), None, "{headers:?}");
            connection.expect_closed(&headers);
        }
    }
    // The last one is not `chunked`: the HTTP library refuses it, without a body.
    for coding in ["gzip", "identity", "chunked, gzip", "chunkedx"] {
        let mut connection = server.connect();
        let head =
            format!("POST /plants HTTP/1.1\r\nHost: plants\r\nTransfer-Encoding: {coding}\r\n\r\n");
        assert_eq!(connection.exchange(head.as_bytes()).status, 400, "{coding}");
        connection.expect_closed(coding);
    }
    assert!(server.export().is_empty());

    for coding in ["chunked", "CHUNKED", " chunked "] {
        let token = server.bearer();
        let coding = format!("Transfer-Encoding:{coding}\r\n");
        let head = format!("POST /plants HTTP/1.1\r\nHost: plants\r\n{token}{JSON}{coding}\r\n");
        server.connect().exchange((head + &chunked).as_bytes()).plant();
    }
}
