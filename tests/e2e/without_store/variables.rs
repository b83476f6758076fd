//! Environment variables with the prefix of our flags.

use plant_store_tests::{Server, binary_in};

use crate::without_store::starts::record_of;

const LIST: [&str; 2] = ["token", "list"];

const IGNORED: &str = "unknown environment variables are ignored";

/// A line of `plant-store.env` without a value sets an empty variable.
#[test]
fn empty_variable_counts_as_unset() {
    let starting = Server::starting().command(|command| {
        for name in ["STORE_CA", "MAX_BODY", "METRICS", "NO_CREATE", "TLS_CERT"] {
            command.env(format!("PLANT_STORE_{name}"), "");
        }
    });
    let server = starting.start();
    assert_eq!(record_of(&server, "limits")["max_body"], 65536);
    assert!(!server.log().contains(IGNORED), "{}", server.log());
    let listed = binary_in(server.folder()).env("PLANT_STORE_STORE", "").args(LIST).output();
    let default = binary_in(server.folder()).env_remove("PLANT_STORE_STORE").args(LIST).output();
    assert_eq!(listed.expect("it starts").stderr, default.expect("it starts").stderr);
}

#[test]
fn unknown_variables_are_a_warning_unless_kubernetes_sets_them() {
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
