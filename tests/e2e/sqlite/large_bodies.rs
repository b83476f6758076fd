//! Large bodies of one token wait for those before them, so that creates with other tokens do not.

use plant_store_tests::{Server, plant};

use crate::database;

/// Four bodies of 64 KiB are parsed and wait for the commit. Those that came after them are not
/// parsed before it has ended.
#[test]
fn large_bodies_of_one_token_are_parsed_and_committed_some_at_a_time() {
    let server = Server::starting().with(&["--store-timeout", "300ms"]).start();
    let lock = database::locked(&server);
    let mut connections: Vec<_> = (0..10)
        .map(|id| {
            let mut connection = server.connect();
            connection.send(&server.post(&plant(id, &"f".repeat(65_000), None)));
            connection
        })
        .collect();
    for connection in &mut connections {
        assert_eq!(connection.receive().error(), 503);
    }
    server.wait_until("their records", || server.log().matches("\"error\":503").count() == 10);
    let of_the_token = server.log().matches("the bodies of this token before it").count();
    assert_eq!(of_the_token, 6, "{}", server.log());
    drop(lock);
    server.wait_until("a commit", || server.create(&plant(99, "Fern", None)).status == 200);
}
