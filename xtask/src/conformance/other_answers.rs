//! Answers that this service never sends, but that a client must handle. A later version may send
//! values of `error` that the client does not know; according to the document, each means the same
//! as the x00 value of its class. And a proxy may answer with other statuses and bodies.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{io, thread};

use anyhow::{Context, Result, ensure};

/// A value that may be sent again, like 500.
const SERVER_ERROR: Answer = bad(r#"{"error":504,"message":"a later version says why"}"#);

/// A value that is final, like 400.
const CLIENT_ERROR: Answer = bad(r#"{"error":418,"message":"a later version says why"}"#);

const HTML: &str = "<html>no plant store</html>";

/// The bodies of a proxy, of Dropshot, and of a framework whose `error` is a string.
const BAD: [Answer; 3] = [bad(HTML), bad(r#"{"message":""}"#), bad(r#"{"error":""}"#)];

const NOT_IMPLEMENTED: Answer = Answer { head: "501 Not Implemented", body: HTML };

/// A redirect. A client that follows it sends no token, or a GET.
const FOUND: Answer = Answer { head: "302 Found\r\nLocation: /", body: "" };

/// The answers that a client gets, and the message that it must report.
pub const OTHER_ANSWERS: [Case; 6] = [
    Case { answers: &[SERVER_ERROR, CLIENT_ERROR], messages: &["418: a later version says why"] },
    Case { answers: &[BAD[0]], messages: &["HTTP status 400", "'400 Bad Request'"] },
    Case { answers: &[BAD[1]], messages: &["HTTP status 400", "'400 Bad Request'"] },
    Case { answers: &[BAD[2]], messages: &["HTTP status 400", "'400 Bad Request'"] },
    Case { answers: &[NOT_IMPLEMENTED], messages: &["HTTP status 501", "'501 Not Implemented'"] },
    Case { answers: &[FOUND], messages: &["HTTP status 302", "'302 Found'"] },
];

/// The answers to the requests of a client. The client must repeat the request after each answer
/// except the last one.
pub struct Case {
    answers: &'static [Answer],
    /// The client must report one of these messages. There are several because httpx words its own.
    messages: &'static [&'static str],
}

#[derive(Clone, Copy)]
struct Answer {
    /// The status and the header fields.
    head: &'static str,
    body: &'static str,
}

const fn bad(body: &'static str) -> Answer {
    Answer { head: "400 Bad Request", body }
}

/// A server that sends the answers of a [`Case`], each on a new connection.
pub struct FakeService {
    /// The URL of the server.
    pub url: String,
    answered: Arc<AtomicUsize>,
}

impl FakeService {
    /// Starts the server. Any further request gets a refusal.
    pub fn serve(case: &'static Case) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").context("no port is free")?;
        let url = format!("http://{}", listener.local_addr()?);
        let answered = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&answered);
        thread::spawn(move || {
            for given in case.answers.iter().chain([&CLIENT_ERROR]) {
                // Only count answers that were sent: a client whose connection breaks repeats its
                // request.
                let answer = |(stream, _)| answer(stream, given);
                if listener.accept().and_then(answer).is_ok() {
                    count.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        Ok(Self { url, answered })
    }

    /// Checks how a client handled the answers.
    pub fn check(&self, case: &Case, client: &Result<String>) -> Result<()> {
        let Case { answers, messages } = case;
        let failure = client.as_ref().err().context("the client did not fail")?.to_string();
        let is_reported = messages.iter().any(|message| failure.contains(message));
        ensure!(is_reported, "the client did not report {messages:?}:\n{failure}");
        let answered = self.answered.load(Ordering::Relaxed);
        let expected = answers.len();
        ensure!(
            answered == expected,
            "the client sent {answered} requests, not {expected}, for {messages:?}"
        );
        Ok(())
    }
}

/// Reads a request and answers it.
fn answer(mut stream: TcpStream, Answer { head, body }: &Answer) -> io::Result<()> {
    let mut request = BufReader::new(&stream);
    let mut length = 0;
    let mut line = String::new();
    while request.read_line(&mut line)? > "\r\n".len() {
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().map_err(io::Error::other)?;
        }
        line.clear();
    }
    io::copy(&mut request.take(length), &mut io::sink())?;
    write!(
        stream,
        "HTTP/1.1 {head}\r\nContent-Type: application/json\r\nConnection: close\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}
