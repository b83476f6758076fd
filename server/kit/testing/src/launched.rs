//! A server process, and the first lines that it prints.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, ChildStdout, Command, Stdio};

use anyhow::{Context, Result};

/// A server that has printed where it listens. Dropping this kills the process.
pub struct Launched {
    /// The process.
    pub process: Child,
    /// The address on which the server listens.
    pub address: SocketAddr,
    /// The address as a URL: with `http`, or `https` if the server speaks TLS.
    pub url: String,
    /// The first token, and the command that creates a row with it. A server prints both only for
    /// a new store.
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
            Ok(Printed { first_request, url, address }) => {
                Ok(Self { process, address, url, first_request, stdout })
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

/// Returns the token in the lines that a server prints for a new store.
pub fn token(printed: &str) -> Option<&str> {
    printed.lines().find_map(|line| line.strip_prefix("TOKEN="))
}

/// What a server prints. See [`Launched`].
struct Printed {
    first_request: Option<String>,
    url: String,
    address: SocketAddr,
}

fn read_lines(stdout: &mut impl BufRead) -> Result<Printed> {
    let mut line = read_line(stdout)?;
    let mut first_request = None;
    if line.starts_with("TOKEN=") {
        first_request = Some(format!("{line}\n{}", read_line(stdout)?));
        line = read_line(stdout)?;
    }
    let (_, url) = line.split_once("listening on ").context("no address was printed")?;
    let authority = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    let address = authority.and_then(|authority| authority.parse().ok());
    let address = address.context("the printed address is malformed")?;
    Ok(Printed { first_request, url: url.to_owned(), address })
}

fn read_line(stdout: &mut impl BufRead) -> Result<String> {
    let mut line = String::new();
    stdout.read_line(&mut line).context("standard output is not text")?;
    Ok(line.trim_end().to_owned())
}
