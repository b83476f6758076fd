//! The part of a start that may wait for a disk or a database: the files of TLS, the store, its
//! first token, and its tokens.
//!
//! Nothing here may run on a thread that speaks HTTP: that thread would notice no signal.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::Result;
use plant_store_store::token::TokenName;
use plant_store_store::{self as store, Engine, Served, Start, StoreError};
use slog::{Logger, warn};

use crate::command::serve::address::check_is_free;
use crate::command::serve::args::{Args, FirstToken};
use crate::command::serve::tls::Tls;
use crate::http::known_tokens::KnownTokens;
use crate::token::{self, Token};

/// How often a database that is not there yet is tried.
const TRY_EVERY: Duration = Duration::from_secs(1);

/// What a start needs before it listens.
pub struct Opened {
    /// None if the service does not speak TLS.
    pub tls: Option<Tls>,
    pub store: Arc<dyn Engine>,
    /// Whether this start has created the store.
    pub is_new: bool,
    /// The first token of a new store, if it is to be printed.
    pub first_token: Option<Token>,
}

/// Reads the files of TLS, opens the store, issues the first token if there is to be one, and reads
/// the tokens. An address that is in use must not leave a new store behind, so it is tried before.
pub fn open(args: &Args, tokens: &KnownTokens, log: &Logger) -> Result<Opened> {
    check_is_free(args.listen)?;
    let tls = args.tls.as_ref().map(|files| files.load(log)).transpose()?;
    let Served { store, is_new } = open_store(args, log)?;
    for file in store::unfinished(&args.store.url) {
        warn!(log, "left by a start or a copy that was killed, or a copy runs; if none does, \
            delete it"; "file" => %file.display());
    }
    let is_token_wanted = is_new && args.first_token == FirstToken::Print;
    let first_token = is_token_wanted.then(|| issue_first(&*store)).transpose()?;
    if tokens.read(&*store)? == 0 {
        warn!(log, "the store has no token: `plant-store token create NAME` makes one");
    }
    Ok(Opened { tls, store, is_new, first_token })
}

/// Opens the store. Tries a database that is not there once a second, and says so once.
fn open_store(args: &Args, log: &Logger) -> Result<Served<Arc<dyn Engine>>, StoreError> {
    let start = Start { create: !args.no_create, without_fsync: args.without_fsync };
    let mut is_said = false;
    loop {
        match store::serve(&args.store.url, args.store.ca.as_deref(), start) {
            Ok(served) => return Ok(served),
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

fn issue_first(store: &dyn Engine) -> Result<Token, StoreError> {
    let first = token::issue(TokenName::first(), None);
    store.add_token(&first.stored)?;
    Ok(first.token)
}
