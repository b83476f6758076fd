//! Warnings about flags that are valid, but may be a mistake.

use plant_store_tests::Server;
use plant_store_tests::tls::{Authority, TLS};

#[test]
fn plain_text_beyond_loopback_is_a_warning() {
    const WARNING: &str = "without --tls-cert, tokens travel in plain text";
    for (address, tls, warns) in [
        ("0.0.0.0:0", false, true),
        ("127.0.0.1:0", false, false),
        ("127.9.9.9:0", false, false),
        ("0.0.0.0:0", true, false),
    ] {
        let mut starting = Server::starting().with(&["--listen", address]);
        if tls {
            Authority::new().issue(starting.folder());
            starting = starting.with(&TLS);
        }
        let server = starting.start();
        server.wait_for_log("listening");
        assert_eq!(server.log().contains(WARNING), warns, "{address}: {}", server.log());
    }
}
