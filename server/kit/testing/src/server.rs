//! A server on a new store, and the requests that tests send to it.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::http::{Connection, Response};
use crate::launched::{Launched, token};

/// The store in the folder of a server.
const STORE: [&str; 2] = ["--store", "sqlite:store.db"];

/// The header line of a body that is JSON.
pub const JSON: &str = "Content-Type: application/json\r\n";

/// A running server on a new store of SQLite, in a folder of its own. Dropping this kills the
/// process.
pub struct Server {
    /// The process, and where it listens.
    pub launched: Launched,
    /// Sends requests to the server.
    pub api: Api,
    program: PathBuf,
    folder: TempDir,
}

/// How requests are sent to a server.
pub struct Api {
    address: SocketAddr,
    /// The path of the create that the program prints for a new store.
    pub path: String,
    /// The first token of the store.
    pub token: String,
    /// The example of a body.
    body: Value,
}

impl Server {
    pub(crate) fn start(program: &Path, flags: &[&str]) -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        let launched = launch(program, &folder, flags);
        let api = launched.first_request.as_deref().and_then(Api::of_first_request);
        let api = api.expect("a server on a new store prints a token and a command with a body");
        Self { launched, api, program: program.to_owned(), folder }
    }

    /// Kills the server with SIGKILL, and starts another one on the store.
    pub(crate) fn restart(&mut self) {
        self.launched.kill();
        self.launched = launch(&self.program, &self.folder, &[]);
        self.api.address = self.launched.address;
    }

    /// Runs a command on the store, such as `["token", "create", "ci"]`, and returns its stdout.
    ///
    /// # Panics
    ///
    /// Panics if the command fails.
    pub fn run(&self, command: &[&str]) -> String {
        run(&self.program, self.folder.path(), &[command, &STORE].concat())
    }
}

fn launch(program: &Path, folder: &TempDir, flags: &[&str]) -> Launched {
    let mut serve = Command::new(program);
    serve.args(["serve", "--listen", "127.0.0.1:0", "--log-level", "error"]).args(STORE);
    Launched::start(serve.args(flags).current_dir(folder)).expect("the server starts")
}

/// Runs a program in a folder, and returns its stdout.
pub fn run(program: &Path, folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).current_dir(folder).output();
    let output = output.expect("the program starts");
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("text"));
    assert!(output.status.success(), "{arguments:?}: {}\n{stdout}{stderr}", output.status);
    stdout
}

impl Api {
    /// Parses what a server prints for a new store: the first token, and a command that uses it.
    fn of_first_request(printed: &str) -> Option<Self> {
        let (_, rest) = printed.split_once("http://")?;
        let (url, rest) = rest.split_once(' ')?;
        let (address, path) = url.split_once('/')?;
        let (_, body) = rest.split_once(" -d '")?;
        Some(Self {
            address: address.parse().ok()?,
            path: format!("/{path}"),
            token: token(printed)?.to_owned(),
            body: serde_json::from_str(body.strip_suffix('\'')?).ok()?,
        })
    }

    /// Returns the body that creates the example under this id.
    pub fn body(&self, id: i64) -> String {
        self.body_with(id, "id", id.into())
    }

    /// Returns the body that creates the example under this id, with another value of a member.
    pub fn body_with(&self, id: i64, member: &str, value: Value) -> String {
        let mut body = self.body.clone();
        body["id"] = id.into();
        body[member] = value;
        body.to_string()
    }

    /// Returns bodies with the same id, in each of which another string is changed. The service
    /// refuses a change of an enumeration or of a format.
    pub(crate) fn other_bodies(&self, id: i64) -> impl Iterator<Item = String> {
        let members = self.body.as_object().expect("an object").iter();
        let strings = members.filter(|(_, value)| value.is_string());
        strings.map(move |(name, _)| self.body_with(id, name, "another".into()))
    }

    /// Creates the example under this id.
    pub fn create(&self, id: i64) -> Option<Response> {
        self.post(&self.token, JSON, &self.body(id))
    }

    /// Sends a create. Returns `None` if there is no answer.
    pub fn post(&self, token: &str, headers: &str, body: &str) -> Option<Response> {
        let headers = format!("{headers}Content-Length: {}\r\n", body.len());
        self.send(&format!("POST {}", self.path), token, &headers, body)
    }

    /// Sends a request with a token, unless it is empty, and with these header lines, each of which
    /// ends in CRLF.
    pub fn send(&self, line: &str, token: &str, headers: &str, body: &str) -> Option<Response> {
        let credentials = match token {
            "" => String::new(),
            token => format!("Authorization: Bearer {token}\r\n"),
        };
        let head = format!("{line} HTTP/1.1\r\nHost: test\r\n{credentials}{headers}\r\n");
        let mut connection = Connection::try_open(self.address)?;
        connection.try_send((head + body).as_bytes());
        connection.try_receive()
    }
}
