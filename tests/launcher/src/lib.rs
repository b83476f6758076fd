//! Builds the real binary, starts servers, and reads the first lines that they print. No other code
//! reads those lines. And starts what the servers may need: a PostgreSQL.

pub mod events;
pub mod postgres;

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};

use anyhow::{Context, Result};
use escargot::CargoBuild;

/// Builds a program of the workspace, and returns where it is. A release is built as its users
/// build it. Otherwise cargo is asked for the features of the whole workspace, as the tests are
/// built: so nothing is built twice, and after `cargo xtask test` has built everything, nothing at
/// all.
///
/// The checkout is that of the package that cargo runs, else that of the current folder.
pub fn build(program: &str, release: bool) -> Result<PathBuf> {
    let release_of = |package| CargoBuild::new().package(package).release();
    let build = match (release, program) {
        (false, _) => in_workspace(),
        (true, "plants") => release_of("plant-store-client").features("cli"),
        (true, _) => release_of("plant-store-server"),
    };
    run(build.bin(program))
}

/// Builds an example of the workspace, and returns where it is.
pub fn build_example(name: &str) -> Result<PathBuf> {
    run(in_workspace().example(name))
}

fn in_workspace() -> CargoBuild {
    CargoBuild::new().arg("--workspace").all_features()
}

fn run(build: CargoBuild) -> Result<PathBuf> {
    let build = match std::env::var_os("CARGO_MANIFEST_DIR") {
        Some(package) => build.manifest_path(PathBuf::from(package).join("Cargo.toml")),
        None => build,
    };
    Ok(build.run().context("cannot build the program")?.path().to_owned())
}

/// A server that has said where it listens. Dropping it kills the process.
pub struct Launched {
    /// The process.
    pub process: Child,
    /// Where it listens.
    pub address: SocketAddr,
    /// The same, with the scheme: `http`, or `https` if it speaks TLS.
    pub url: String,
    /// Kept open: a process that prints into a closed pipe gets EPIPE.
    stdout: BufReader<ChildStdout>,
}

impl Launched {
    /// Starts the server and waits until it prints where it listens.
    ///
    /// # Errors
    ///
    /// The process does not start, or its first line is not `… listening on SCHEME://ADDRESS`. In
    /// the second case it is killed.
    pub fn start(command: &mut Command) -> Result<Self> {
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut process = command.spawn().context("cannot start the server")?;
        let mut stdout = BufReader::new(process.stdout.take().expect("standard output is piped"));
        match read_url(&mut stdout) {
            Ok((url, address)) => Ok(Self { process, address, url, stdout }),
            Err(error) => {
                let _ = process.kill();
                let _ = process.wait();
                Err(error)
            }
        }
    }

    /// The second line, which a server prints only for a new store: a command that creates a plant.
    pub fn first_request(&mut self) -> Result<String> {
        read_line(&mut self.stdout)
    }

    /// What the process printed after the lines that were read. Waits until it closes its output.
    pub fn rest(&mut self) -> Result<String> {
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).context("standard output is not text")?;
        Ok(rest)
    }
}

impl Drop for Launched {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The token in the command that a server prints for a new store.
pub fn token(first_request: &str) -> Result<&str> {
    let (_, rest) = first_request.split_once("Bearer ").context("no token was printed")?;
    rest.split('\'').next().context("no token was printed")
}

fn read_url(stdout: &mut impl BufRead) -> Result<(String, SocketAddr)> {
    let line = read_line(stdout)?;
    let (_, url) = line.split_once("listening on ").context("no address was printed")?;
    let authority = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    let address = authority.and_then(|authority| authority.parse().ok());
    Ok((url.to_owned(), address.context("the printed address is malformed")?))
}

fn read_line(stdout: &mut impl BufRead) -> Result<String> {
    let mut line = String::new();
    stdout.read_line(&mut line).context("standard output is not text")?;
    Ok(line.trim_end().to_owned())
}
