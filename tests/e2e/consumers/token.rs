//! `plants check-token`.

use plant_store_tests::Server;

use super::commands::proxy;
use super::{Finished, plants, run};

const ACCEPTED: &str = "{\"accepted\":true}\n";

#[test]
fn check_token_tests_the_token_without_creating_a_plant() {
    let server = Server::start();
    let Finished { exit_code, stdout, stderr } = run(&mut plants(&server, &["check-token"]));
    assert_eq!((exit_code, stdout.as_str(), stderr.as_str()), (Some(0), ACCEPTED, ""));
    assert!(server.export().is_empty());

    let mut refused = plants(&server, &["check-token"]);
    let Finished { exit_code, stdout, stderr } = run(refused.env("PLANTS_TOKEN", "pst_"));
    assert_eq!((exit_code, stdout.as_str()), (Some(1), ""));
    assert!(stderr.contains("\"error\":401"), "{stderr}");

    let mut nobody = plants(&server, &["check-token", "--url", "http://127.0.0.1:1"]);
    let Finished { exit_code, stdout, stderr } = run(&mut nobody);
    assert_eq!((exit_code, stdout.as_str()), (Some(1), ""));
    assert!(stderr.contains("Connection refused"), "{stderr}");
}

/// The responses include a login page, a service that accepts anything, and refusals that do not
/// concern the token.
#[test]
fn check_token_rejects_responses_that_prove_nothing() {
    let server = Server::start();
    let no_store = "the response did not come from a plant store";
    for (status, body, expected) in [
        ("200 OK", "<html>Log in</html>", no_store),
        ("200 OK", "{\"name\":\"null\"}", no_store),
        ("200 OK", "{\"error\":400,\"message\":\"\"}", no_store),
        ("302 Found", "", "/plants answered 302 Found"),
        ("400 Bad Request", "<html>Bad request</html>", "/plants answered 400 Bad Request"),
        ("400 Bad Request", "{\"error\":403,\"message\":\"no\"}", "\"error\":403"),
        ("400 Bad Request", "{\"error\":429,\"message\":\"no\"}", "\"error\":429"),
        ("400 Bad Request", "{\"error\":503,\"message\":\"no\"}", "\"error\":503"),
    ] {
        let mut check = plants(&server, &["check-token"]);
        let Finished { exit_code, stdout, stderr } =
            run(check.env("PLANTS_URL", proxy(status, body)));
        assert_eq!((exit_code, stdout.as_str()), (Some(1), ""), "{status}, {body}: {stderr}");
        assert!(stderr.contains(expected), "{stderr}");
    }
}
