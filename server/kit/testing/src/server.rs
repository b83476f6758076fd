//! A server on a new store, and the requests that the suite sends to it.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::http::{Connection, Response};
use crate::launched::{Launched, token};

/// The store in the folder of a server.
pub const STORE: [&str; 2] = ["--store", "sqlite:store.db"];

/// The header line of a body that is JSON.
pub const JSON: &str = "Content-Type: application/json\r\n";

/// A running server. Dropping this kills the process.
pub struct Server {
    pub launched: Launched,
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

impl Server {
    /// Starts the program in a folder. For a store that is there already, `before` is the `Api` of
    /// its previous server, which has the token.
    pub fn start(program: &Path, folder: &Path, before: Option<&Api>) -> Self {
        let mut serve = Command::new(program);
        serve.args(["serve", "--listen", "127.0.0.1:0", "--log-level", "error"]).args(STORE);
        let launched = Launched::start(serve.current_dir(folder)).expect("the server starts");
        let first_request = launched.first_request.as_deref();
        let api = before.cloned().or_else(|| Api::of_first_request(first_request?));
        let api = api.expect("a server on a new store prints a token and a command with a body");
        Self { api: Api { address: launched.address, ..api }, launched }
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
            token: token(printed)?.to_owned(),
            body: serde_json::from_str(body.strip_suffix('\'')?).ok()?,
        })
    }

    /// Returns the body that creates the example under this id.
    pub fn body(&self, id: i64) -> String {
        let mut body = self.body.clone();
        body["id"] = id.into();
        body.to_string()
    }

    /// Returns bodies with the same id, in each of which another string is changed. The service
    /// refuses a change of an enumeration or of a format.
    pub fn other_bodies(&self, id: i64) -> impl Iterator<Item = String> {
        let members = self.body.as_object().expect("an object").iter();
        let strings = members.filter(|(_, value)| value.is_string());
        strings.map(move |(name, _)| {
            let mut body = self.body.clone();
            body["id"] = id.into();
            body[name] = "another".into();
            body.to_string()
        })
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
