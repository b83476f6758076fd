//! The process of a server, and the requests that tests send to it.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use anyhow::{Context, Result};
use serde_json::Value;
use tempfile::TempDir;

use crate::http::{Connection, JSON, Response, bearer, head};

/// A server that has printed where it listens. Dropping this kills the process.
pub struct Launched {
    /// The process.
    pub process: Child,
    /// The address on which the server listens.
    pub address: SocketAddr,
    /// The address as a URL: with `http`, or `https` if the server speaks TLS.
    pub url: String,
    /// The first token. A server prints it only for a new store.
    pub token: Option<String>,
    /// The line with that token, and the command that creates a row with it.
    pub first_request: Option<String>,
    /// Kept open, because a process that prints to a closed pipe gets EPIPE.
    stdout: BufReader<ChildStdout>,
}

impl Launched {
    /// Starts the server and waits until it prints where it listens.
    ///
    /// # Errors
    ///
    /// Fails if the process does not start, or does not print `… listening on SCHEME://ADDRESS`.
    /// In the second case the process is killed.
    pub fn start(command: &mut Command) -> Result<Self> {
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut process = command.spawn().context("cannot start the server")?;
        let mut stdout = BufReader::new(process.stdout.take().expect("standard output is piped"));
        match read_lines(&mut stdout) {
            Ok(Printed { token, first_request, url, address }) => {
                Ok(Self { process, address, url, token, first_request, stdout })
            }
            Err(error) => {
                let _ = process.kill();
                let _ = process.wait();
                Err(error)
            }
        }
    }

    /// Sends SIGKILL, and waits until the process has ended.
    pub fn kill(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    /// Returns the rest of stdout, after the lines that were parsed. Waits until the process closes
    /// stdout.
    pub fn rest(&mut self) -> Result<String> {
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).context("standard output is not text")?;
        Ok(rest)
    }
}

impl Drop for Launched {
    fn drop(&mut self) {
        self.kill();
    }
}

/// What a server prints. See [`Launched`].
struct Printed {
    token: Option<String>,
    first_request: Option<String>,
    url: String,
    address: SocketAddr,
}

fn read_lines(stdout: &mut impl BufRead) -> Result<Printed> {
    let mut line = read_line(stdout)?;
    let token = line.strip_prefix("TOKEN=").map(str::to_owned);
    let mut first_request = None;
    if token.is_some() {
        first_request = Some(format!("{line}\n{}", read_line(stdout)?));
        line = read_line(stdout)?;
    }
    let (_, url) = line.split_once("listening on ").context("no address was printed")?;
    let authority = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    let address = authority.and_then(|authority| authority.parse().ok());
    let address = address.context("the printed address is malformed")?;
    Ok(Printed { token, first_request, url: url.to_owned(), address })
}

fn read_line(stdout: &mut impl BufRead) -> Result<String> {
    let mut line = String::new();
    stdout.read_line(&mut line).context("standard output is not text")?;
    Ok(line.trim_end().to_owned())
}

/// The store in the folder of a server.
const STORE: [&str; 2] = ["--store", "sqlite:store.db"];

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
        let api = Api::of_first_request(&launched);
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
    #[track_caller]
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
#[track_caller]
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
    fn of_first_request(launched: &Launched) -> Option<Self> {
        let (_, rest) = launched.first_request.as_ref()?.split_once("http://")?;
        let (url, rest) = rest.split_once(' ')?;
        let (_, path) = url.split_once('/')?;
        let (_, body) = rest.split_once(" -d '")?;
        Some(Self {
            address: launched.address,
            path: format!("/{path}"),
            token: launched.token.clone()?,
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
            token => bearer(token),
        };
        let head = head(line, &(credentials + headers));
        let mut connection = Connection::try_open(self.address)?;
        connection.try_send((head + body).as_bytes());
        connection.try_receive()
    }
}
