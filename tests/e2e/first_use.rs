//! The first start: what is logged, and the command that is printed for a new store.

use std::process::Command;

use nix::sys::signal::Signal;
use plant_store_tests::{Engine, Server};
use serde_json::{Value, json};

use crate::database::STORE;

/// An operator notices immediately if the server was started in the wrong folder.
#[test]
fn start_logs_the_release_the_store_and_whether_it_is_new() {
    let server = Server::start();
    let starts = |server: &Server| -> Vec<Value> {
        server.wait_for_log("listening");
        let log = server.log();
        let records = log.lines().filter(|line| line.contains("\"msg\":\"listening\""));
        records.map(|record| serde_json::from_str(record).expect("JSON")).collect()
    };
    let first = starts(&server).remove(0);
    let version = first["version"].as_str().expect("text");
    assert!(version.starts_with(env!("CARGO_PKG_VERSION")), "{first}");
    assert_eq!((&first["is_new"], &first["layout"]), (&true.into(), &1.into()));
    let store = match Engine::of_this_run() {
        Engine::Sqlite => format!("sqlite:{}", server.folder().join(STORE).display()),
        Engine::Postgres => "postgres://".to_owned(),
    };
    assert!(first["store"].as_str().expect("text").starts_with(&store), "{first}");
    let again = server.stopped_by(Signal::SIGTERM).start();
    again.wait_until("a second record", || starts(&again).len() == 2);
    assert_eq!(starts(&again)[1]["is_new"], false);
}

/// A shell runs the printed command unchanged. In that shell, a function named `curl` prints its
/// arguments, and the test sends the request that they describe. So the test needs no curl.
#[test]
fn printed_curl_command_creates_the_first_plant() {
    let server = Server::start();
    let printed = server.first_request.as_deref().expect("a new store prints a command");
    let script = format!("curl() {{ printf '%s\\n' \"$@\"; }}; {printed}");
    let output = Command::new("sh").args(["-c", &script]).output().expect("a shell");
    let arguments = String::from_utf8(output.stdout).expect("text");
    let [url, "-H", authorization, "-H", content_type, "-d", body] =
        arguments.lines().collect::<Vec<_>>()[..]
    else {
        panic!("unexpected arguments of curl: {arguments}");
    };

    assert_eq!(url, format!("{}/plants", server.url));
    assert_eq!(content_type, "Content-Type: application/json");
    let created = server.create_with(&format!("{authorization}\r\n"), body);
    assert_eq!(created.plant(), json!({ "name": "Monstera deliciosa", "tag": "indoor" }));
    assert_eq!(server.export()[&1].name, "Monstera deliciosa");
}
