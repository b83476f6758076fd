//! A service that answers with values of `error` which no client knows: a later version may have
//! them. The document says that each means the same as the x00 of its class.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{io, thread};

use anyhow::{Context, Result, ensure};

/// May be sent again, as 500.
const SERVER_ERROR: u16 = 504;

/// Is final, as 400.
const CLIENT_ERROR: u16 = 418;

/// The service. It answers two requests, each on a connection of its own.
pub struct UnknownErrors {
    /// Where it is.
    pub url: String,
    answered: Arc<AtomicUsize>,
}

impl UnknownErrors {
    /// Begins to listen.
    pub fn serve() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").context("no port is free")?;
        let url = format!("http://{}", listener.local_addr()?);
        let answered = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&answered);
        thread::spawn(move || {
            for error in [SERVER_ERROR, CLIENT_ERROR] {
                // A client that is cut off repeats its request, and the count is too low then.
                let answer = |(stream, _)| answer(stream, error);
                if listener.accept().and_then(answer).is_ok() {
                    count.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        Ok(Self { url, answered })
    }

    /// Judges what a client made of both answers. It must repeat the request after the first one,
    /// and give up after the second one.
    pub fn check(&self, client: &Result<String>) -> Result<()> {
        let said = client.as_ref().err().context("no failure for an unknown error")?.to_string();
        let expected = CLIENT_ERROR.to_string();
        ensure!(said.contains(&expected), "it did not give up at {expected}:\n{said}");
        let answered = self.answered.load(Ordering::Relaxed);
        ensure!(answered == 2, "it sent {answered} requests for {SERVER_ERROR} and {expected}");
        Ok(())
    }
}

/// Reads a request and refuses it.
fn answer(mut stream: TcpStream, error: u16) -> io::Result<()> {
    let mut request = BufReader::new(&stream);
    let mut body = 0;
    let mut line = String::new();
    while request.read_line(&mut line)? > "\r\n".len() {
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            body = value.trim().parse().map_err(io::Error::other)?;
        }
        line.clear();
    }
    io::copy(&mut request.take(body), &mut io::sink())?;
    let refusal = format!("{{\"error\":{error},\"message\":\"a later version says why\"}}");
    write!(
        stream,
        "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nConnection: close\r\n\
         Content-Length: {}\r\n\r\n{refusal}",
        refusal.len()
    )
}
