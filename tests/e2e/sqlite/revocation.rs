//! The revocation of several tokens, which fails halfway.

use plant_store_tests::{Server, bearer, plant, run};

use crate::database;

/// `a` is revoked, and `b` is not. The server may accept `a` until the command returns, but not
/// afterwards.
#[test]
fn partly_failed_revocation_revokes_the_earlier_tokens() {
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
    let stderr = String::from_utf8_lossy(&revoked.stderr);
    assert!(stderr.starts_with("revoked a in sqlite:") && stderr.contains("b stays"), "{stderr}");
    let answer = server.create_with(&bearer(one.trim()), &plant(1, "Ficus", None));
    assert_eq!(answer.error(), 401);
}
