//! `plants check-token`.

use plant_store_tests::Server;

use super::commands::proxy;
use super::{Ran, plants, run};

const ACCEPTED: &str = "{\"accepted\":true}\n";

#[test]
fn check_token_says_whether_the_service_accepts_the_token_and_creates_nothing() {
    let server = Server::start();
    let Ran { status, printed, said } = run(&mut plants(&server, &["check-token"]));
    assert_eq!((status, printed.as_str(), said.as_str()), (Some(0), ACCEPTED, ""));
    assert!(server.export().is_empty());

    let mut refused = plants(&server, &["check-token"]);
    let Ran { status, printed, said } = run(refused.env("PLANTS_TOKEN", "pst_"));
    assert_eq!((status, printed.as_str()), (Some(1), ""));
    assert!(said.contains("\"error\":401"), "{said}");

    let mut nobody = plants(&server, &["check-token", "--url", "http://127.0.0.1:1"]);
    let Ran { status, printed, said } = run(&mut nobody);
    assert_eq!((status, printed.as_str()), (Some(1), ""));
    assert!(said.contains("Connection refused"), "{said}");
}

/// The service looks at the rate after it has accepted the token.
#[test]
fn check_token_past_the_rate_of_the_token_says_that_it_is_accepted() {
    let server = Server::starting().with(&["--max-rate", "1"]).start();
    for _ in 0..3 {
        let Ran { status, printed, said } = run(&mut plants(&server, &["check-token"]));
        assert_eq!((status, printed.as_str()), (Some(0), ACCEPTED), "{said}");
    }
}

/// A login page, a service that takes anything, and a refusal that does not speak of the token.
#[test]
fn check_token_accepts_no_answer_that_is_no_refusal_of_the_contract() {
    let server = Server::start();
    let no_store = "the answer is not that of a plant store";
    for (answer, body, expected) in [
        ("200 OK", "<html>Log in</html>", no_store),
        ("200 OK", "{\"name\":\"null\"}", no_store),
        ("200 OK", "{\"error\":400,\"message\":\"\"}", no_store),
        ("302 Found", "", "/plants answered 302 Found"),
        ("400 Bad Request", "<html>Bad request</html>", "/plants answered 400 Bad Request"),
        ("400 Bad Request", "{\"error\":403,\"message\":\"no\"}", "\"error\":403"),
        ("400 Bad Request", "{\"error\":503,\"message\":\"no\"}", "\"error\":503"),
    ] {
        let mut check = plants(&server, &["check-token"]);
        let Ran { status, printed, said } = run(check.env("PLANTS_URL", proxy(answer, body)));
        assert_eq!((status, printed.as_str()), (Some(1), ""), "{answer}, {body}: {said}");
        assert!(said.contains(expected), "{said}");
    }
}
