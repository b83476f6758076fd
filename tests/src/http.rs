//! HTTP/1.1 over a socket, byte by byte: what no HTTP library would send.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};

use serde_json::Value;

use crate::PATIENCE;

/// The bytes of a `POST /plants` with these header lines (each ending in CRLF) and this body.
#[must_use]
pub fn post(headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let headers =
        format!("Content-Type: application/json\r\nContent-Length: {length}\r\n{headers}");
    [head(&headers).as_bytes(), body].concat()
}

/// The header line that carries a token.
#[must_use]
pub fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}\r\n")
}

/// The head of a `POST /plants` with these header lines and no others but `Host`.
#[must_use]
pub fn head(headers: &str) -> String {
    format!("POST /plants HTTP/1.1\r\nHost: plants\r\n{headers}\r\n")
}

/// An answer.
#[derive(Debug)]
pub struct Response {
    /// The status code.
    pub status: u16,
    headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Response {
    /// The value of the header field that occurs at most once, by its name in any case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut values = self
            .headers
            .iter()
            .filter(|(field, _)| field.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str());
        let value = values.next();
        assert!(values.next().is_none(), "{name} occurs twice: {self:?}");
        value
    }

    /// The body as JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        assert_eq!(self.header("content-type"), Some("application/json"));
        serde_json::from_slice(&self.body).expect("the body is JSON")
    }

    /// The plant's body, of a 200 that says nothing but what the contract declares.
    pub fn plant(&self) -> Value {
        assert_eq!(self.status, 200, "{self:?}");
        let plant = self.json();
        let members = plant.as_object().expect("an object");
        assert!(members["name"].is_string(), "{plant}");
        assert!(members.get("tag").is_none_or(Value::is_string), "{plant}");
        assert!(members.keys().all(|member| member == "name" || member == "tag"), "{plant}");
        plant
    }

    /// `error` and `message`, of a 400 that says nothing but what the contract declares.
    #[must_use]
    pub fn refusal(&self) -> (i64, String) {
        assert_eq!(self.status, 400, "{self:?}");
        let error = self.json();
        assert_eq!(error.as_object().expect("an object").len(), 2, "{error}");
        (
            error["error"].as_i64().expect("`error` is an integer"),
            error["message"].as_str().expect("`message` is a string").to_owned(),
        )
    }
}

/// A connection, and what was received on it and not yet looked at.
pub struct Connection {
    stream: TcpStream,
    received: Vec<u8>,
}

impl Connection {
    /// Connects.
    #[must_use]
    pub fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("the server listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a time-out can be set");
        stream.set_write_timeout(Some(PATIENCE)).expect("a time-out can be set");
        stream.set_nodelay(true).expect("the socket takes options");
        Self { stream, received: Vec::new() }
    }

    /// The same connection once more, for a thread that sends while another receives.
    #[must_use]
    pub fn sender(&self) -> Self {
        let stream = self.stream.try_clone().expect("a socket can be shared");
        Self { stream, received: Vec::new() }
    }

    /// Sends bytes.
    pub fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).expect("the server takes bytes");
    }

    /// Sends bytes to a server that may have stopped listening; whether it took them.
    pub fn try_send(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).is_ok()
    }

    /// Tells the server that no more is sent.
    pub fn finish_sending(&mut self) {
        // The server may have closed both ways already.
        let _ = self.stream.shutdown(Shutdown::Write);
    }

    /// Sends a request and reads the answer.
    #[must_use]
    pub fn exchange(&mut self, request: &[u8]) -> Response {
        self.send(request);
        self.receive()
    }

    /// Reads one answer.
    #[must_use]
    pub fn receive(&mut self) -> Response {
        self.try_receive().expect("an answer before the connection ends")
    }

    /// Reads one answer, unless the connection ends first.
    #[must_use]
    pub fn try_receive(&mut self) -> Option<Response> {
        loop {
            let mut fields = [httparse::EMPTY_HEADER; 32];
            let mut head = httparse::Response::new(&mut fields);
            if let httparse::Status::Complete(length) =
                head.parse(&self.received).expect("an HTTP response")
            {
                let text = |bytes| String::from_utf8(Vec::from(bytes)).expect("a text header");
                let mut response = Response {
                    status: head.code.expect("a parsed status"),
                    headers: head
                        .headers
                        .iter()
                        .map(|field| (field.name.to_owned(), text(field.value)))
                        .collect(),
                    body: Vec::new(),
                };
                self.received.drain(..length);
                let length = response
                    .header("content-length")
                    .map_or(0, |length| length.parse().expect("Content-Length is a number"));
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

    /// Whether the server ends the connection, having sent nothing more.
    #[must_use]
    pub fn is_closed(&mut self) -> bool {
        let more = self.read_more();
        assert!(self.received.is_empty(), "{}", String::from_utf8_lossy(&self.received));
        !more
    }

    /// Whether more came before the end.
    fn read_more(&mut self) -> bool {
        let mut buffer = [0; 16 * 1024];
        match self.stream.read(&mut buffer) {
            Ok(0) => false,
            Ok(read) => {
                self.received.extend_from_slice(&buffer[..read]);
                true
            }
            // The end of a connection on which the server left something unread.
            Err(error) if error.kind() == ErrorKind::ConnectionReset => false,
            // A read with a time-out is not taken up again by itself.
            Err(error) if error.kind() == ErrorKind::Interrupted => self.read_more(),
            Err(error) => panic!("nothing came: {error}"),
        }
    }
}
