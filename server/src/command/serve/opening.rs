//! Opens the TLS files and the store before the server listens.
//!
//! Nothing here may run on an HTTP thread, because opening blocks on a disk or a database.

use std::net::TcpListener;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::Result;
use dropshot::ConfigTls;
use plant_store_store::{self as store, Engine, IfMissing, Served, StoreError};
use slog::{Logger, warn};

use crate::command::serve::address::bind_error;
use crate::command::serve::args::Args;

/// The pause between two attempts to reach a database.
const RETRY_PAUSE: Duration = Duration::from_secs(1);

/// The resources that are open before the server listens.
pub struct Opened {
    /// `None` if the server does not speak TLS.
    pub tls: Option<ConfigTls>,
    pub store: Arc<dyn Engine>,
    /// Whether this start created the store.
    pub is_new: bool,
}

/// Opens the TLS files and the store. Waits until a database can be reached.
pub fn open(args: &Args, log: &Logger) -> Result<Opened> {
    // Fail before the store is created if the address is in use.
    drop(TcpListener::bind(args.listen).map_err(bind_error("listen", "--listen", args.listen))?);
    let tls = args.tls.as_ref().map(|files| files.load(log)).transpose()?;
    let Served { store, is_new } = open_store(args, log)?;
    Ok(Opened { tls, store, is_new })
}

/// Opens the store. Retries every second while a database cannot be reached, and logs one warning.
fn open_store(args: &Args, log: &Logger) -> Result<Served<Arc<dyn Engine>>, StoreError> {
    let if_missing = if args.no_create { IfMissing::Fail } else { IfMissing::Create };
    let mut has_warned = false;
    loop {
        match store::open_to_serve(&args.store.url, args.store.ca.as_deref(), if_missing) {
            Err(StoreError::Unreachable { cause, .. }) if !has_warned => {
                warn!(log, "waiting for the database: the server listens once it can be reached";
                    "cause" => %cause);
                has_warned = true;
            }
            Err(StoreError::Unreachable { .. }) => {}
            result => return result,
        }
        thread::sleep(RETRY_PAUSE);
    }
}
