//! The first token of a new store: where it goes.

use std::convert::Infallible;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, Error, Result};
use nix::unistd::{AccessFlags, access};

use crate::command::stdout::stdout;
use crate::store::StoreError;
use crate::token::{StoredToken, Token, TokenName};

/// Where the first token goes.
#[derive(Clone, Debug)]
pub enum FirstToken {
    /// To standard output, in a command that uses it.
    Print,
    /// There is none.
    None,
    /// Into a file that is not there yet.
    File(PathBuf),
}

impl FromStr for FirstToken {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text {
            "print" => Self::Print,
            "none" => Self::None,
            file => Self::File(file.into()),
        })
    }
}

impl FirstToken {
    /// Why the token could not be written, as far as can be seen without writing.
    pub fn fault(&self) -> Option<Error> {
        let Self::File(file) = self else { return None };
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let fault = match file.symlink_metadata() {
            Ok(_) => Some(ErrorKind::AlreadyExists.into()),
            Err(error) if error.kind() != ErrorKind::NotFound => Some(error),
            Err(_) => {
                access(folder.unwrap_or(Path::new(".")), AccessFlags::W_OK | AccessFlags::X_OK)
                    .err()
                    .map(io::Error::from)
            }
        };
        let fault = Error::from(fault?);
        Some(fault.context(format!("cannot write the first token to {}", file.display())))
    }

    /// Why the store cannot be used. A store that is missing was not created if its first token
    /// could not be written, and then that is said.
    pub fn explain(&self, error: StoreError) -> Error {
        match error {
            StoreError::Missing(_) => self.fault().unwrap_or_else(|| error.into()),
            error => error.into(),
        }
    }

    /// Makes it: what the store has to keep, and the header that carries the token, as a word of a
    /// shell.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn make(&self) -> Result<Option<(StoredToken, String)>> {
        let (token, stored) = StoredToken::issue(TokenName::first(), None);
        let header = match self {
            Self::None => return Ok(None),
            Self::Print => format!("'Authorization: Bearer {}'", token.reveal()),
            Self::File(file) => {
                write(file, &token).with_context(|| {
                    format!(
                        "cannot write the first token to {}; the new store has none yet, and \
                         `plant-store token create` makes one",
                        file.display()
                    )
                })?;
                format!("\"Authorization: Bearer $(cat '{}')\"", file.display())
            }
        };
        Ok(Some((stored, header)))
    }
}

/// Only the owner of the file may read the token, also if others may read the folder.
fn write(file: &Path, token: &Token) -> io::Result<()> {
    let mut file = File::options().write(true).create_new(true).mode(0o600).open(file)?;
    writeln!(file, "{}", token.reveal())?;
    file.sync_all()
}

/// Says where the service listens.
pub fn announce(scheme: &str, address: SocketAddr) -> io::Result<()> {
    let mut stdout = stdout();
    writeln!(stdout, "plant-store listening on {scheme}://{address}")?;
    stdout.flush()
}

/// Prints, once, a command that uses the first token of a new store.
pub fn show(scheme: &str, mut address: SocketAddr, header: &str) -> io::Result<()> {
    match address.ip() {
        ip if !ip.is_unspecified() => {}
        ip if ip.is_ipv4() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        _ => address.set_ip(Ipv6Addr::LOCALHOST.into()),
    }
    let mut stdout = stdout();
    writeln!(
        stdout,
        "curl {scheme}://{address}/plants -H {header} -H 'Content-Type: application/json' \
         -d '{{\"id\":1,\"name\":\"Monstera deliciosa\",\"tag\":\"indoor\"}}'",
    )?;
    stdout.flush()
}
