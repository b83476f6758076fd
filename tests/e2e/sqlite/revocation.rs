//! A revocation that fails halfway.

use plant_store_tests::{Server, bearer, plant, run};

use crate::database;

/// The server may use the revoked token until the command returns, and not any more after it.
#[test]
fn revoked_token_is_refused_when_the_command_returns_though_a_later_one_was_not_revoked() {
    let server = Server::start();
    let one = server.command(&["token", "create", "a"]);
    server.command(&["token", "create", "b"]);
    database::execute(
        &server,
        "CREATE TRIGGER keep_b BEFORE DELETE ON tokens WHEN old.name = 'b'
        BEGIN SELECT RAISE(ABORT, 'b stays'); END",
    );
    let revoked = run(server.folder(), &["token", "revoke", "a", "b"]);
    assert_eq!(revoked.status.code(), Some(1));
    let said = String::from_utf8_lossy(&revoked.stderr);
    assert!(said.starts_with("revoked a\n") && said.contains("b stays"), "{said}");
    let answer = server.create_with(&bearer(one.trim()), &plant(1, "Ficus", None));
    assert_eq!(answer.error(), 401);
}
