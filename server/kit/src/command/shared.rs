//! What several commands use: the flags that name a store, messages for the person who typed the
//! command, and writing to stdout. What only one command needs is in its own file.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Error, Result};
use groundwork_store::{self as store, Engine, Kind, Mode, Names, StoreUrl};

use crate::service::Service;

/// The store to work on.
#[derive(clap::Args, Clone, Debug)]
pub struct StoreArgs {
    /// URL of the store: {store_url}
    #[arg(
        long = "store",
        value_name = "URL",
        env = "STORE",
        // The URL may contain a password.
        hide_env_values = true,
        default_value = "sqlite:{program}.db"
    )]
    pub url: StoreUrl,

    /// PEM file with the authority that signed the certificate of the PostgreSQL server [default:
    /// the authorities that this machine trusts]
    #[arg(long = "store-ca", value_name = "FILE", env = "STORE_CA")]
    pub ca: Option<PathBuf>,
}

impl StoreArgs {
    /// Opens the store.
    pub fn open(&self, names: &'static Names, mode: Mode) -> Result<Arc<dyn Engine>, store::Error> {
        Ok(store::open(names, &self.url, self.ca.as_deref(), mode)?.store)
    }
}

/// Writes to stdout and flushes it. The error mentions stdout.
pub fn print(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    written.context("cannot write to standard output")
}

/// Formats the error with its causes, followed by advice on what to do. The errors of the store
/// describe what is wrong, but do not know any flags, commands or pages.
pub fn error_message(service: &Service, error: &Error) -> String {
    let advice = kind_of(error).map_or("", advice);
    format!("{error:#}{}", service.fill_in(advice))
}

/// The flag is only an example, because not every command has `--store`.
const MISSING: &str =
    ": name an existing store, for example with `--store sqlite:/folder/{program}.db`";

const DAMAGED: &str = ". Restore a backup of a damaged store, or recover what can still be read \
    from an SQLite file with `sqlite3 FILE .recover`";

/// Returns what an error of the store means. `None` if it is another error.
pub fn kind_of(error: &Error) -> Option<Kind> {
    error.downcast_ref().map(|error: &store::Error| error.kind)
}

/// Returns what to do about an error of the store.
fn advice(kind: Kind) -> &'static str {
    match kind {
        Kind::Missing => MISSING,
        Kind::CopyUnfinished => {
            ". Once the cause is gone, run the same `{program} copy` with --add: it adds what is \
             missing"
        }
        Kind::HasRows => {
            ": to add {resources} to it, or to complete an interrupted copy, run the same command \
             with --add"
        }
        Kind::HasTokens => ": to copy the {resources} alone, pass `--tokens none`",
        Kind::NotAStore | Kind::Damaged => DAMAGED,
        Kind::Full => ": free space on the disk",
        Kind::Untrusted => ": pass the certificate of its authority with --store-ca FILE",
        _ => "",
    }
}
