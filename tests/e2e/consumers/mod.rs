//! What the consumers of the service use: the client that repeats, and the program `plants`.

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

/// The program `plants`, built in this profile on the first call.
pub fn program() -> &'static Path {
    static PLANTS: OnceLock<PathBuf> = OnceLock::new();
    PLANTS.get_or_init(|| build("plants", !cfg!(debug_assertions)).expect("the program builds"))
}

/// The same for that server, with its accepted token, in the server's folder.
fn plants(server: &Server, arguments: &[&str]) -> Command {
    let mut command = Command::new(program());
    command.args(arguments).current_dir(server.folder()).stdin(Stdio::null());
    command.env("PLANTS_URL", &server.url).env("PLANTS_TOKEN", &server.token);
    command
}

/// What a program did that has ended.
struct Ran {
    /// Its exit status, if no signal ended it.
    status: Option<i32>,
    /// Its standard output.
    printed: String,
    /// Its standard error.
    said: String,
}

impl Ran {
    fn of(Output { status, stdout, stderr }: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("text");
        Self { status: status.code(), printed: text(stdout), said: text(stderr) }
    }
}

/// Runs it to its end.
fn run(command: &mut Command) -> Ran {
    Ran::of(command.output().expect("the program starts"))
}

/// Writes a file into the server's folder.
fn write(server: &Server, name: &str, text: impl AsRef<[u8]>) {
    fs::write(server.folder().join(name), text).expect("the folder takes files");
}
