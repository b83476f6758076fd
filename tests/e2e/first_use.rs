//! What a newcomer does first.

use std::process::Command;

use plant_store_tests::Server;

/// The printed command, pasted into a shell, creates a plant.
#[test]
fn the_printed_command_creates_a_first_plant() {
    let server = Server::start();
    let printed = server.first_request.as_deref().expect("a new store prints a command");
    assert!(printed.starts_with("curl "), "{printed}");
    let output = Command::new("sh").args(["-c", printed]).output().expect("a shell");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        r#"{"name":"Monstera deliciosa","tag":"indoor"}"#,
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(server.export()[&1].name, "Monstera deliciosa");
}
