//! A server on a new store, and requests to it, sent over plain sockets.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::launched::{Launched, token};

/// The store in the folder of a server.
pub const STORE: [&str; 2] = ["--store", "sqlite:store.db"];

/// The header line of a body that is JSON.
pub const JSON: &str = "Content-Type: application/json\r\n";

/// A running server. Dropping this kills the process.
pub struct Server {
    launched: Launched,
    pub api: Api,
}

/// How a create is sent to a server.
#[derive(Clone)]
pub struct Api {
    address: SocketAddr,
    /// The path of the operation.
    pub path: String,
    pub token: String,
    /// The example of a body.
    body: Value,
}

/// A response.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    head: String,
    pub body: String,
}

impl Server {
    /// Starts the program in a folder. For a store that is there already, `before` is the `Api` of
    /// its previous server, which has the token.
    pub fn start(program: &Path, folder: &Path, before: Option<&Api>) -> Self {
        let mut serve = Command::new(program);
        serve.args(["serve", "--listen", "127.0.0.1:0"]).args(STORE).current_dir(folder);
        let launched = Launched::start(serve.stderr(Stdio::null())).expect("the server starts");
        let first_request = launched.first_request.as_deref();
        let api = before.cloned().or_else(|| Api::of_first_request(first_request?));
        let api = api.expect("a server on a new store prints a token and a command with a body");
        Self { api: Api { address: launched.address, ..api }, launched }
    }

    /// Sends SIGKILL.
    pub fn kill(&mut self) {
        self.launched.process.kill().expect("the process can be killed");
        self.launched.process.wait().expect("the process ends");
    }
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
            token: token(printed).ok()?.to_owned(),
            body: serde_json::from_str(body.strip_suffix('\'')?).ok()?,
        })
    }

    /// Returns the body that creates the example under this id.
    pub fn body(&self, id: i64) -> String {
        let mut body = self.body.clone();
        body["id"] = id.into();
        body.to_string()
    }

    /// Returns a body with the same id and a different resource.
    pub fn other_body(&self, id: i64) -> String {
        let mut body: Value = serde_json::from_str(&self.body(id)).expect("JSON");
        let mut members = body.as_object_mut().expect("an object").values_mut();
        let text = members.find(|member| member.is_string()).expect("the example has a string");
        *text = "another".into();
        body.to_string()
    }

    /// Creates the example under this id.
    pub fn create(&self, id: i64) -> io::Result<Response> {
        self.post(&self.token, JSON, &self.body(id))
    }

    /// Sends a create.
    pub fn post(&self, token: &str, headers: &str, body: &str) -> io::Result<Response> {
        let headers = format!("{headers}Content-Length: {}\r\n", body.len());
        self.send(&format!("POST {}", self.path), token, &headers, body)
    }

    /// Sends a request with a token, unless it is empty, and with these header lines, each of which
    /// ends in CRLF.
    pub fn send(&self, line: &str, token: &str, headers: &str, body: &str) -> io::Result<Response> {
        let credentials = match token {
            "" => String::new(),
            token => format!("Authorization: Bearer {token}\r\n"),
        };
        let headers = format!("Host: test\r\nConnection: close\r\n{credentials}{headers}");
        let mut stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(Duration::from_mins(1)))?;
        stream.write_all(format!("{line} HTTP/1.1\r\n{headers}\r\n{body}").as_bytes())?;
        let mut received = String::new();
        stream.read_to_string(&mut received)?;
        let (head, body) = received.split_once("\r\n\r\n").ok_or(io::ErrorKind::UnexpectedEof)?;
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.ok_or(io::ErrorKind::InvalidData)?;
        Ok(Response { status, head: head.to_owned(), body: body.to_owned() })
    }
}

impl Response {
    /// Returns the value of a header field, whose name is given in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut fields = self.head.lines().filter_map(|line| line.split_once(": "));
        fields.find(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Parses the body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect("the body is JSON")
    }
}
