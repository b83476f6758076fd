//! The store of a start, and its first token.
//!
//! Nothing here may run on a thread that speaks HTTP: it waits for a disk or a database.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use plant_store_store::token::TokenName;
use plant_store_store::{self as store, Engine, Served, Start, StoreError};
use slog::{Logger, warn};

use crate::command::serve::args::Args;
use crate::token::{self, Token};

/// How often a database that is not there yet is tried.
const TRY_EVERY: Duration = Duration::from_secs(1);

/// Opens the store. Tries a database that is not there once a second, and says so once.
pub fn open_store(args: &Args, log: &Logger) -> Result<Served<Arc<dyn Engine>>, StoreError> {
    let start = Start { make: !args.no_create, without_fsync: args.without_fsync };
    let mut is_said = false;
    loop {
        match store::open_to_serve(&args.store.url, args.store.ca.as_deref(), start) {
            Ok(served) => {
                warn_of_unfinished_files(args, log);
                return Ok(served);
            }
            Err(StoreError::Unreachable { cause, .. }) if !is_said => {
                warn!(log, "waiting for the database: the service listens when it is there";
                    "cause" => %cause);
                is_said = true;
            }
            Err(StoreError::Unreachable { .. }) => {}
            Err(other) => return Err(other),
        }
        thread::sleep(TRY_EVERY);
    }
}

fn warn_of_unfinished_files(args: &Args, log: &Logger) {
    for file in store::unfinished(&args.store.url) {
        warn!(log, "left by a start or a copy that was killed, or a copy runs; if none does, \
            delete it"; "file" => %file.display());
    }
}

/// Issues the first token of a new store.
pub fn issue_first_token(store: &dyn Engine) -> Result<Token, StoreError> {
    let first = token::issue(TokenName::first(), None);
    store.add_token(&first.stored)?;
    Ok(first.token)
}
