//! What a person should know of a command line that works: a warning, in the log of a server, and
//! elsewhere a line on standard error.

use plant_store_tests::tls::{Authority, TLS};
use plant_store_tests::{Server, binary_in};
use tempfile::TempDir;

#[test]
fn variable_that_no_flag_has_is_a_warning_with_the_nearest_one() {
    let cases = [
        ("PLANT_STORE_QEUE", "PLANT_STORE_QUEUE"),
        ("PLANT_STORE_STOR", "PLANT_STORE_STORE"),
        ("PLANT_STORE_MAXBODY", "PLANT_STORE_MAX_BODY"),
        ("PLANT_STORE_TLS_CERTIFICATE", "PLANT_STORE_TLS_CERT"),
    ];
    let line = |(unknown, nearest)| {
        format!(
            "{unknown} is no variable of plant-store and is ignored; the nearest one is {nearest}"
        )
    };
    let variables = cases.map(|(unknown, _)| (unknown, "postgres://ada:secret@db/plants"));
    let server = Server::starting()
        .command(|command| {
            command.envs(variables);
        })
        .start();
    server.wait_for_log("listening");
    let log = server.log();
    assert_eq!(log.matches("is no variable of plant-store").count(), cases.len(), "{log}");
    for case in cases {
        let record = log.lines().find(|record| record.contains(&line(case)));
        assert!(record.expect("a record").contains(r#""level":"warning""#), "{case:?}: {log}");
    }
    assert!(!log.contains("secret"), "a value is not repeated: {log}");

    let folder = TempDir::new().expect("a temporary folder");
    let output = binary_in(folder.path()).arg("openapi").env(cases[0].0, "8").output();
    let output = output.expect("the binary starts");
    let said = String::from_utf8(output.stderr).expect("text");
    assert_eq!(said, format!("plant-store: {}\n", line(cases[0])));
    assert!(output.status.success() && !output.stdout.is_empty());
}

#[test]
fn plain_text_on_an_address_that_is_not_loopback_is_a_warning() {
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
