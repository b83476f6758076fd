//! The first request: the command that a new store prints.

use std::process::Command;

use plant_store_tests::Server;
use serde_json::json;

/// A shell runs the printed command unchanged. A shell function named `curl` prints its arguments,
/// and the test sends the request that they describe, so no curl is needed.
#[test]
fn printed_curl_command_creates_a_first_plant() {
    let server = Server::start();
    let printed = server.first_request.as_deref().expect("a new store prints a command");
    let script = format!("curl() {{ printf '%s\\n' \"$@\"; }}; {printed}");
    let output = Command::new("sh").args(["-c", &script]).output().expect("a shell");
    let arguments = String::from_utf8(output.stdout).expect("text");
    let [url, "-H", authorization, "-H", content_type, "-d", body] =
        arguments.lines().collect::<Vec<_>>()[..]
    else {
        panic!("curl was given {arguments}");
    };

    assert_eq!(url, format!("{}/plants", server.url));
    assert_eq!(content_type, "Content-Type: application/json");
    let created = server.create_with(&format!("{authorization}\r\n"), body);
    assert_eq!(created.plant(), json!({ "name": "Monstera deliciosa", "tag": "indoor" }));
    assert_eq!(server.export()[&1].name, "Monstera deliciosa");
}
