//! Answers that this service does not give. A later version may have values of `error` which no
//! client knows: the document says that each means the same as the x00 of its class. And something
//! on the way, such as a proxy, answers with other statuses and bodies.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{io, thread};

use anyhow::{Context, Result, ensure};

/// May be sent again, as 500.
const SERVER_ERROR: Answer = bad(r#"{"error":504,"message":"a later version says why"}"#);

/// Is final, as 400.
const CLIENT_ERROR: Answer = bad(r#"{"error":418,"message":"a later version says why"}"#);

const HTML: &str = "<html>no plant store</html>";

/// Of a proxy, of Dropshot, and of a framework whose `error` is a text.
const BAD: [Answer; 3] = [bad(HTML), bad(r#"{"message":""}"#), bad(r#"{"error":""}"#)];

const NOT_IMPLEMENTED: Answer = Answer { head: "501 Not Implemented", body: HTML };

/// A client that follows it sends no token, or a GET.
const FOUND: Answer = Answer { head: "302 Found\r\nLocation: /", body: "" };

/// What a client gets, and what it must make of it.
pub const OTHER_ANSWERS: [Case; 6] = [
    Case { answers: &[SERVER_ERROR, CLIENT_ERROR], says: &["418: a later version says why"] },
    Case { answers: &[BAD[0]], says: &["HTTP status 400", "'400 Bad Request'"] },
    Case { answers: &[BAD[1]], says: &["HTTP status 400", "'400 Bad Request'"] },
    Case { answers: &[BAD[2]], says: &["HTTP status 400", "'400 Bad Request'"] },
    Case { answers: &[NOT_IMPLEMENTED], says: &["HTTP status 501", "'501 Not Implemented'"] },
    Case { answers: &[FOUND], says: &["HTTP status 302", "'302 Found'"] },
];

/// Answers to the requests of a client. It must repeat the request after each but the last one.
pub struct Case {
    answers: &'static [Answer],
    /// What it must say in the end: one of these, because httpx has words of its own.
    says: &'static [&'static str],
}

#[derive(Clone, Copy)]
struct Answer {
    /// The status, and header fields.
    head: &'static str,
    body: &'static str,
}

const fn bad(body: &'static str) -> Answer {
    Answer { head: "400 Bad Request", body }
}

/// A server that gives these answers, each on a connection of its own.
pub struct Others {
    /// Where it is.
    pub url: String,
    answered: Arc<AtomicUsize>,
}

impl Others {
    /// Begins to listen. A request too many gets a refusal.
    pub fn serve(case: &'static Case) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").context("no port is free")?;
        let url = format!("http://{}", listener.local_addr()?);
        let answered = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&answered);
        thread::spawn(move || {
            for given in case.answers.iter().chain([&CLIENT_ERROR]) {
                // A client that is cut off repeats its request, and the count is too low then.
                let answer = |(stream, _)| answer(stream, given);
                if listener.accept().and_then(answer).is_ok() {
                    count.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        Ok(Self { url, answered })
    }

    /// Judges what a client made of the answers.
    pub fn check(&self, case: &Case, client: &Result<String>) -> Result<()> {
        let Case { answers, says } = case;
        let said = client.as_ref().err().context("no failure for a foreign answer")?.to_string();
        let is_said = says.iter().any(|words| said.contains(words));
        ensure!(is_said, "it did not say {says:?} in the end:\n{said}");
        let answered = self.answered.load(Ordering::Relaxed);
        let expected = answers.len();
        ensure!(answered == expected, "it sent {answered} requests, not {expected}, for {says:?}");
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
