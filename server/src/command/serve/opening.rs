//! What a start opens before it listens: the files of TLS, and the store.
//!
//! Nothing here may run on a thread that speaks HTTP: it waits for a disk or a database.

use std::net::TcpListener;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::Result;
use dropshot::ConfigTls;
use plant_store_store::{self as store, Engine, IfMissing, Served, StoreError};
use slog::{Logger, warn};

use crate::command::serve::address::cannot;
use crate::command::serve::args::Args;

/// How often a database that is not there yet is tried.
const TRY_EVERY: Duration = Duration::from_secs(1);

/// What is open before the service listens.
pub struct Opened {
    /// None if the service does not speak TLS.
    pub tls: Option<ConfigTls>,
    pub store: Arc<dyn Engine>,
    /// Whether this start has created the store.
    pub is_new: bool,
}

/// Opens the files of TLS and the store. Waits for a database that is not there yet.
pub fn open(args: &Args, log: &Logger) -> Result<Opened> {
    // An address that is in use must not leave a new store behind.
    drop(TcpListener::bind(args.listen).map_err(cannot("listen", "--listen", args.listen))?);
    let tls = args.tls.as_ref().map(|files| files.load(log)).transpose()?;
    let Served { store, is_new } = open_store(args, log)?;
    Ok(Opened { tls, store, is_new })
}

/// Opens the store. Tries a database that is not there once a second, and says so once.
fn open_store(args: &Args, log: &Logger) -> Result<Served<Arc<dyn Engine>>, StoreError> {
    let if_missing = if args.no_create { IfMissing::Fail } else { IfMissing::Create };
    let mut is_said = false;
    loop {
        match store::open_to_serve(&args.store.url, args.store.ca.as_deref(), if_missing) {
            Err(StoreError::Unreachable { cause, .. }) if !is_said => {
                warn!(log, "waiting for the database: the service listens when it is there";
                    "cause" => %cause);
                is_said = true;
            }
            Err(StoreError::Unreachable { .. }) => {}
            done => return done,
        }
        thread::sleep(TRY_EVERY);
    }
}
