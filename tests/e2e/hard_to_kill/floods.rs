//! More creates than the service can handle. It refuses the excess, and recovers by itself.

use plant_store_tests::process::allow_many_files;
use plant_store_tests::{Server, bearer, plant};

use crate::wire::signals::admitted;

/// Requests of one token whose bodies never arrive hold at most half of the permits. After the
/// token is revoked, none of them creates a plant.
#[test]
fn slow_bodies_of_one_token_leave_half_of_the_permits() {
    const PERMITS: usize = 800;
    allow_many_files().expect("the soft limit can be raised");
    let flags = ["--max-creates", &PERMITS.to_string(), "--body-timeout", "1h"];
    let server = Server::starting().with(&flags).start();
    let others = server.command(&["token", "create", "other"]);
    let body = plant(1, "Ficus", None);
    let has_permit = |_| match admitted(&server, &server.token, &body) {
        Ok(connection) => Some(connection),
        Err(refused) => {
            assert_eq!(refused.error(), 503, "{refused:?}");
            None
        }
    };
    let mut slow: Vec<_> = (0..500).filter_map(has_permit).collect();
    assert_eq!(slow.len(), PERMITS / 2);
    server.create_with(&bearer(others.trim()), &plant(2, "Fern", None)).plant();

    server.command(&["token", "revoke", "first"]);
    for connection in &mut slow {
        assert_eq!(connection.exchange(body.as_bytes()).error(), 401);
    }
    assert!(server.export().into_keys().eq([2]));
}
