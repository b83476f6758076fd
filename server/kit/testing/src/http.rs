//! HTTP/1.1 over a plain socket, so that tests can send bytes that no HTTP library would send.

use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::mem::take;
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// How long a connection waits until bytes arrive or are taken.
const TIMEOUT: Duration = Duration::from_mins(1);

/// The header line of a body that is JSON.
pub const JSON: &str = "Content-Type: application/json\r\n";

/// Returns the header line that contains a token.
pub fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}\r\n")
}

/// Returns the head of a request with this method and path, with `Host` and these header lines,
/// each of which ends in CRLF.
pub fn head(line: &str, headers: &str) -> String {
    format!("{line} HTTP/1.1\r\nHost: test\r\n{headers}\r\n")
}

/// A response, read to the end of its body.
pub struct Response {
    /// The status code.
    pub status: u16,
    headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

/// Prints the body as text, for the messages of failed tests.
impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { status, headers, body } = self;
        write!(f, "{status} {headers:?} {}", String::from_utf8_lossy(body))
    }
}

impl Response {
    /// Returns the value of a header field. The name is case-insensitive.
    ///
    /// # Panics
    ///
    /// Panics if the field occurs twice.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut fields = self.headers.iter().filter(|(field, _)| field.eq_ignore_ascii_case(name));
        let value = fields.next().map(|(_, value)| value.as_str());
        assert!(fields.next().is_none(), "{name} occurs twice: {self:?}");
        value
    }

    /// Parses the body as JSON.
    ///
    /// # Panics
    ///
    /// Panics if the body is not JSON, or is sent as something else.
    pub fn json(&self) -> Value {
        assert_eq!(self.header("content-type"), Some("application/json"));
        serde_json::from_slice(&self.body).expect("the body is JSON")
    }

    /// Returns the `error` of a refusal. See [`refusal`](Self::refusal).
    pub fn error(&self) -> i64 {
        let (error, _) = self.refusal();
        error
    }

    /// Returns the `error` and `message` of a refusal.
    ///
    /// # Panics
    ///
    /// Panics if the status is neither 400 nor `error`, or the body is not an object with just
    /// these two members.
    #[track_caller]
    pub fn refusal(&self) -> (i64, String) {
        let error = self.json();
        assert!(self.status == 400 || error["error"] == self.status, "{self:?}");
        assert_eq!(error.as_object().expect("an object").len(), 2, "{error}");
        (
            error["error"].as_i64().expect("`error` is an integer"),
            error["message"].as_str().expect("`message` is a string").to_owned(),
        )
    }
}

/// A connection, and the bytes that were received but not parsed yet. Its methods panic if nothing
/// arrives for a minute; those whose names begin with `try_` accept that the connection has ended.
pub struct Connection {
    stream: TcpStream,
    received: Vec<u8>,
}

impl Connection {
    /// Connects to a server.
    pub fn open(address: SocketAddr) -> Self {
        Self::try_open(address).expect("the server listens")
    }

    /// Connects to a server. Returns `None` if the server does not listen any more.
    pub fn try_open(address: SocketAddr) -> Option<Self> {
        let stream = TcpStream::connect(address).ok()?;
        stream.set_read_timeout(Some(TIMEOUT)).expect("a time-out can be set");
        stream.set_write_timeout(Some(TIMEOUT)).expect("a time-out can be set");
        stream.set_nodelay(true).expect("the socket takes options");
        Some(Self { stream, received: Vec::new() })
    }

    /// Returns a second handle of the connection, for a thread that sends while another thread
    /// receives.
    #[must_use]
    pub fn sender(&self) -> Self {
        let stream = self.stream.try_clone().expect("a socket can be shared");
        Self { stream, received: Vec::new() }
    }

    /// Sends bytes.
    pub fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).expect("the connection takes bytes");
    }

    /// Sends bytes on a connection that the server may have closed. Returns whether sending
    /// succeeded.
    pub fn try_send(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).is_ok()
    }

    /// Shuts down the sending side, which tells the server that the client sends no more.
    pub fn finish_sending(&mut self) {
        // The server may have closed the connection already.
        let _ = self.stream.shutdown(Shutdown::Write);
    }

    /// Sends a request and reads the response.
    pub fn exchange(&mut self, request: &[u8]) -> Response {
        self.send(request);
        self.receive()
    }

    /// Reads one response.
    pub fn receive(&mut self) -> Response {
        self.try_receive().expect("a response before the connection ends")
    }

    /// Reads one response, unless the connection ends first.
    pub fn try_receive(&mut self) -> Option<Response> {
        loop {
            let mut fields = [httparse::EMPTY_HEADER; 32];
            let mut head = httparse::Response::new(&mut fields);
            let parsed = head.parse(&self.received).expect("an HTTP response");
            if let httparse::Status::Complete(length) = parsed {
                let text = |bytes| String::from_utf8(Vec::from(bytes)).expect("a text header");
                let headers = head.headers.iter();
                let mut response = Response {
                    status: head.code.expect("a parsed status"),
                    headers: headers.map(|one| (one.name.to_owned(), text(one.value))).collect(),
                    body: Vec::new(),
                };
                self.received.drain(..length);
                let length = response.header("content-length");
                let length = length.map_or(0, |length| length.parse().expect("a number of bytes"));
                while self.received.len() < length {
                    assert!(self.read_more(), "the body breaks off");
                }
                response.body = self.received.drain(..length).collect();
                return Some(response);
            }
            if !self.read_more() {
                assert!(self.received.is_empty(), "the response breaks off");
                return None;
            }
        }
    }

    /// Waits until the server closes the connection, without sending anything first. `what`
    /// describes the connection in the message of a failed test.
    pub fn expect_closed(&mut self, what: &str) {
        let read = self.try_read_more();
        read.unwrap_or_else(|error| panic!("{what}: the server does not close: {error}"));
        let received = String::from_utf8_lossy(&self.received);
        assert!(received.is_empty(), "{what}: the server sends before it closes: {received}");
    }

    /// Returns all bytes that the server sends until it closes the connection.
    pub fn wait_until_closed(&mut self) -> Vec<u8> {
        while self.read_more() {}
        take(&mut self.received)
    }

    /// Reads more bytes. Returns whether any arrived before the end of the connection.
    fn read_more(&mut self) -> bool {
        self.try_read_more().unwrap_or_else(|error| panic!("nothing arrived: {error}"))
    }

    /// Like [`read_more`](Self::read_more), but returns an error if nothing arrives in time.
    fn try_read_more(&mut self) -> io::Result<bool> {
        let mut buffer = [0; 16 * 1024];
        match self.stream.read(&mut buffer) {
            Ok(read) => {
                self.received.extend_from_slice(&buffer[..read]);
                Ok(read > 0)
            }
            // Linux sends RST instead of FIN when a server closes a socket with unread bytes.
            Err(error) if error.kind() == ErrorKind::ConnectionReset => Ok(false),
            // After a signal, the kernel does not restart a read that has a time-out (signal(7)).
            Err(error) if error.kind() == ErrorKind::Interrupted => self.try_read_more(),
            Err(error) => Err(error),
        }
    }
}
