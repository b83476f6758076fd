//! What consumers of the service use: the retrying client and the program `plants`.

mod bodies;
mod commands;
mod connection;
mod csv;
mod encodings;
mod import;
mod rejected;
mod retries;
mod signals;
mod token;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use plant_store_tests::{Server, build};

/// Returns the path of the program `plants`, and builds it in this profile on the first call.
pub fn program() -> &'static Path {
    static PLANTS: OnceLock<PathBuf> = OnceLock::new();
    PLANTS.get_or_init(|| build("plants", !cfg!(debug_assertions)).expect("the program builds"))
}

/// Returns a command that runs `plants` against a server, with a valid token, in the server's
/// folder.
fn plants(server: &Server, arguments: &[&str]) -> Command {
    let mut command = Command::new(program());
    command.args(arguments).current_dir(server.folder()).stdin(Stdio::null());
    command.env("PLANTS_URL", &server.url).env("PLANTS_TOKEN", &server.token);
    command
}

/// A program that has ended.
struct Finished {
    /// The exit code, or none if a signal ended the program.
    exit_code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Finished {
    fn of(Output { status, stdout, stderr }: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("text");
        Self { exit_code: status.code(), stdout: text(stdout), stderr: text(stderr) }
    }
}

/// Runs a program to its end.
fn run(command: &mut Command) -> Finished {
    Finished::of(command.output().expect("the program starts"))
}

/// Writes a file into the server's folder.
fn write(server: &Server, name: &str, text: impl AsRef<[u8]>) {
    fs::write(server.folder().join(name), text).expect("the folder is writable");
}
