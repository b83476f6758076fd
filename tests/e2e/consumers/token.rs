//! `plants check-token`.

use plant_store_tests::Server;

use super::{Ran, plants, run};

#[test]
fn check_token_says_whether_the_service_accepts_the_token_and_creates_nothing() {
    let server = Server::start();
    let Ran { status, printed, said } = run(&mut plants(&server, &["check-token"]));
    assert_eq!((status, printed.as_str(), said.as_str()), (Some(0), "{\"accepted\":true}\n", ""));
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
