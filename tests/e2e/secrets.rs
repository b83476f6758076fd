//! The log never contains a token, a plant or the query of a URI.
//!
//! This test does not run over TLS. There, Dropshot does not notice a client that disconnects
//! immediately, if the client's last bytes and the end of the connection arrive in one read.

use nix::sys::signal::Signal;
use plant_store_tests::{Server, bearer, plant, post};

use crate::database;

const NAME: &str = "Monstera-in-secret";
const TAG: &str = "tag-in-secret";
const MEMBER: &str = "member-in-secret";
const QUERY: &str = "query-in-secret";

/// Sends the token, a plant and a query, each in the right place and in wrong places.
fn send_secrets(server: &Server) {
    let token = &server.token;
    let with_id = |id: &str| format!(r#"{{"id":{id},"name":"{NAME}","tag":"{TAG}"}}"#);
    let twice = format!(r#"{{"{MEMBER}":"{NAME}","{MEMBER}":"{TAG}"}}"#);
    let good = server.bearer();
    for (headers, body) in [
        (&good, with_id("1")),
        (&good, with_id("1").replace(TAG, "another")),
        (&good, with_id("x")),
        (&good, with_id("1e3")),
        (&good, twice),
        (&good, format!(r#"{{"id":1,"name":["{NAME}"]}}"#)),
        (&format!("{good}Content-Encoding: {TAG}\r\n"), with_id("1")),
        (&String::new(), with_id("1")),
        (&bearer(&token.to_lowercase()), with_id("1")),
        (&format!("Authorization: Basic {token}\r\n"), with_id("1")),
        (&format!("{good}{good}"), with_id("1")),
    ] {
        let request = String::from_utf8(post(headers, body.as_bytes())).expect("text");
        for line in ["POST /plants", "GET /plants", "POST /plant", "POST //plants"] {
            let line = format!("{line}?{QUERY}={token} HTTP");
            let request = request.replace("POST /plants HTTP", &line);
            let _ = server.connect().exchange(request.as_bytes());
        }
    }
    let mut broken = server.connect();
    broken.send(format!("{token} {NAME} {TAG}\r\n\r\n").as_bytes());
    let _ = broken.try_receive();
}

/// Disconnects several clients while their plants wait for a commit. Dropshot logs a warning that
/// contains the URI. There are several clients, because Dropshot does not notice every disconnect.
fn disconnect_while_waiting(server: &Server) {
    let lock = database::locked(server);
    let request = String::from_utf8(server.post(&plant(2, NAME, Some(TAG)))).expect("text");
    let uri = format!("/plants?{QUERY}={} HTTP", server.token);
    for _ in 0..32 {
        server.connect().send(request.replace("/plants HTTP", &uri).as_bytes());
    }
    server.wait_for_log("client disconnected");
    drop(lock);
}

#[test]
fn log_contains_no_token_plant_or_query() {
    for format in ["json", "text"] {
        let flags = ["--log-level", "debug", "--log-format", format];
        let server = Server::starting().with(&flags).start();
        send_secrets(&server);
        disconnect_while_waiting(&server);
        let mut server = server.stopped_by(Signal::SIGTERM).with(&flags).start();
        send_secrets(&server);
        database::drop_plants_table(&server);
        send_secrets(&server);
        server.signal(Signal::SIGTERM);
        assert!(server.wait().success());

        assert_eq!(server.printed(), "", "the token of a store is printed only once");
        let log = server.log();
        let cause = database::no_plants_table();
        for expected in ["request completed", cause, "stopped"] {
            assert!(log.contains(expected), "{expected} in the {format} log");
        }
        let secret_part = &server.token["pst_".len()..];
        let log = log.to_lowercase();
        for secret in [secret_part, NAME, TAG, MEMBER, QUERY, "authorization", "bearer"] {
            assert!(!log.contains(&secret.to_lowercase()), "{secret} in the {format} log: {log}");
        }
    }
}
