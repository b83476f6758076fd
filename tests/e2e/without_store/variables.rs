//! Variables of the environment: each has a flag, and a wrong one is named.

use std::process::Stdio;

use plant_store_tests::{Server, binary_in};
use tempfile::TempDir;

use crate::without_store::starts::record_of;

const IGNORED: &str = "variables that no flag has are ignored";

#[test]
fn variables_that_no_flag_has_are_a_warning_unless_they_are_of_kubernetes() {
    let of_kubernetes = [
        "PLANT_STORE_SERVICE_HOST",
        "PLANT_STORE_SERVICE_PORT",
        "PLANT_STORE_SERVICE_PORT_HTTP",
        "PLANT_STORE_PORT",
        "PLANT_STORE_PORT_8080_TCP",
        "PLANT_STORE_PORT_8080_TCP_ADDR",
        "PLANT_STORE_BLUE_SERVICE_HOST",
    ];
    let start = |names: &[&str]| {
        let starting = Server::starting().command(|command| {
            command.env("PLANT_STORE_MAX_CREATES", "16").envs(names.iter().map(|name| (name, "x")));
        });
        starting.start()
    };
    let server = start(&[&of_kubernetes[..], &["PLANT_STORE_TLS_CERTS", "PLANT_STORE_X"]].concat());
    let warning = record_of(&server, IGNORED);
    assert_eq!(warning["level"], "warning");
    assert_eq!(warning["variables"], "PLANT_STORE_TLS_CERTS, PLANT_STORE_X");

    let server = start(&of_kubernetes);
    server.wait_for_log("listening");
    assert!(!server.log().contains(IGNORED), "{}", server.log());
}

#[test]
fn value_of_a_variable_that_is_wrong_names_the_variable() {
    let folder = TempDir::new().expect("a temporary folder");
    for (variable, value, words, expected) in [
        ("PLANT_STORE_MAX_BODY", "0", "serve", "'PLANT_STORE_MAX_BODY, the variable of --max-body"),
        ("PLANT_STORE_LOG_FORMAT", "xml", "serve", "'PLANT_STORE_LOG_FORMAT, the variable of"),
        ("PLANT_STORE_STORE", "x.db", "check", "'PLANT_STORE_STORE, the variable of --store"),
        ("PLANT_STORE_MAX_BODY", "1kB", "serve --max-body=0", "'--max-body <SIZE>'"),
    ] {
        let mut command = binary_in(folder.path());
        command.args(words.split(' ')).env(variable, value).stdout(Stdio::null());
        let output = command.output().expect("the binary starts");
        let said = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(expected), "{said}");
    }
}
