//! Authentication: only a request with an accepted token in its `Authorization` header creates a
//! plant.

use plant_store_tests::{Response, Server, bearer, head, plant, post};

use crate::database;

/// Returns whether a create with the token is answered with 200. Any other answer must be a 401.
fn is_accepted(server: &Server, token: &str) -> bool {
    let answer = server.create_with(&bearer(token), &plant(1, "Ficus", None));
    answer.status == 200 || {
        assert_eq!(answer.error(), 401);
        false
    }
}

fn challenge(answer: &Response) -> &str {
    assert_eq!(answer.error(), 401, "{answer:?}");
    answer.header("www-authenticate").expect("a challenge")
}

/// The client is refused although it has sent no byte of its body, and it gets no `100 Continue`
/// even if it asks for it.
#[test]
fn request_without_accepted_token_is_401_before_its_body() {
    let server = Server::start();
    let token = &server.token;
    let (all_but_last, last) = token.split_at(token.len() - 1);
    let other = if last == "0" { "1" } else { "0" };
    let none = r#"Bearer realm="plant-store""#;
    let invalid = r#"Bearer realm="plant-store", error="invalid_token""#;
    let field = |value: &str| format!("Authorization: {value}\r\n").into_bytes();
    for (authorization, expected) in [
        (Vec::new(), none),
        (field(""), none),
        (field(token), none),
        (field(&format!("Basic {token}")), none),
        (field(&format!("Bearer,{token}")), none),
        (field(&format!("Bearer\t{token}")), none),
        (field(&format!("Bearer{token}")), none),
        (field("Bearer"), invalid),
        (field("Bearer "), invalid),
        (field(&format!("Bearer  \t{token}")), invalid),
        (field(&format!("Bearer {token} {token}")), invalid),
        (field(&format!("Bearer {token},")), invalid),
        (field(&format!("Bearer \"{token}\"")), invalid),
        (field(&format!("Bearer {all_but_last}")), invalid),
        (field(&format!("Bearer {all_but_last}{other}")), invalid),
        (field(&format!("Bearer {}", token.to_lowercase())), invalid),
        (field(&format!("Bearer {token}")).repeat(2), invalid),
        ([field(&format!("Bearer {token}")), field("Basic YTpi")].concat(), invalid),
        (b"Authorization: Bearer \xff\xfe\r\n".to_vec(), invalid),
        ([b"Authorization: Bearer ", token.as_bytes(), b"\xe9\r\n"].concat(), invalid),
        // A well-formed token that was never issued.
        (field("Bearer pst_0123456789ABCDEFGHIJabcdefghij0038H4se"), invalid),
    ] {
        let what = String::from_utf8_lossy(&authorization);
        for expectation in ["", "Expect: 100-continue\r\n"] {
            let rest =
                format!("Content-Type: application/json\r\nContent-Length: 9\r\n{expectation}");
            let head = head(&rest);
            let (line, fields) = head.split_once("\r\n").expect("a request line");
            let request = [line.as_bytes(), b"\r\n", &authorization, fields.as_bytes()].concat();
            let mut connection = server.connect();
            let answer = connection.exchange(&request);
            assert_eq!(challenge(&answer), expected, "{what}");
            connection.expect_closed(&what);
        }
    }
}

/// A person may send the placeholder `pst_…` of a page. The message does not repeat the token.
#[test]
fn malformed_token_is_refused_with_a_description_of_the_format() {
    let server = Server::start();
    let last_changed = server.token[..41].to_owned() + "é";
    for token in ["pst_…", "pst_secret", &last_changed] {
        let answer = server.create_with(&bearer(token), &plant(1, "Ficus", None));
        let (error, message) = answer.refusal();
        assert_eq!(error, 401, "{token}");
        let expected = "truncated or mistyped: a token is `pst_` followed by 38 letters and digits";
        assert!(message.contains(expected) && !message.contains("secret"), "{token}: {message}");
    }
}

#[test]
fn bearer_scheme_is_case_insensitive_and_allows_several_spaces() {
    let server = Server::start();
    for scheme in ["Bearer", "bearer", "BEARER", "bEaReR  ", "Bearer      "] {
        let headers = format!("Authorization: {scheme} {}\r\n", server.token);
        server.create_with(&headers, &plant(1, "Ficus", None)).plant();
    }
}

/// This service does not support these ways to send a token (RFC 6750, sections 2.2 and 2.3).
#[test]
fn token_in_body_or_query_is_ignored() {
    let server = Server::start();
    let body = format!(r#"{{"id":1,"name":"Ficus","access_token":"{}"}}"#, server.token);
    let request = String::from_utf8(post("", body.as_bytes())).expect("text");
    let queried = request.replace("/plants", &format!("/plants?access_token={}", server.token));
    for request in [request, queried] {
        let answer = server.connect().exchange(request.as_bytes());
        assert_eq!(challenge(&answer), r#"Bearer realm="plant-store""#);
    }
}

/// The test moves the expiry of one token to the present, and revokes the other.
#[test]
fn new_token_is_accepted_until_it_expires_or_is_revoked() {
    let server = Server::start();
    let token = server.command(&["token", "create", "brief", "--expires-in", "1h"]);
    let token = token.trim_end();
    assert!(is_accepted(&server, token), "it is in force when the command returns");
    let now = chrono::Utc::now().timestamp();
    let expires = format!("UPDATE tokens SET expires_at = {now} WHERE name = 'brief'");
    database::execute(&server, &expires);
    server.wait_until("the expired token is refused", || !is_accepted(&server, token));
    assert!(is_accepted(&server, &server.token), "the other token is still accepted");
    server.command(&["token", "revoke", "first"]);
    for token in [token, &server.token] {
        let answer = server.create_with(&bearer(token), &plant(1, "Ficus", None));
        assert!(challenge(&answer).ends_with(r#"error="invalid_token""#));
    }
}
