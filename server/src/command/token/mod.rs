//! `plant-store token`: issue, list and revoke.
//!
//! They change the store, and then wait for as long as a running server may use the tokens that it
//! has read before: the change is in force when the command returns. No output repeats what may be
//! a token.

mod expiry;
mod listing;
mod lost_output;
mod selection;

use std::io::{self, Write as _};
use std::thread;

use anyhow::{Context, Result, ensure};
use chrono::{DateTime, Utc};
use clap::Subcommand;
use plant_store_store::StoreError;
use plant_store_store::token::{StoredToken, TokenName};

use crate::command::shared::output::print;
use crate::command::shared::store_args::StoreArgs;
use crate::command::token::expiry::parse_expiry;
use crate::command::token::listing::{Listed, in_seconds, table};
use crate::command::token::lost_output::is_output_lost;
use crate::command::token::selection::select;
use crate::names::TOKEN_PREFIX;
use crate::token::{self, Issued, LEASE};

/// Issue, list and revoke tokens, also while the server runs
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Issue a token and print it, alone and for the only time
    Create {
        /// What to call it: in the list, in the log, and to revoke it
        name: TokenName,

        /// How long it is good for, such as 90d or "1y 6months", in the units min, h, d, w, months
        /// and y; or the day at whose beginning in UTC it expires, such as 2031-12-31 [default:
        /// until it is revoked]
        #[arg(
            long,
            value_name = "DURATION",
            value_parser = parse_expiry,
            allow_hyphen_values = true
        )]
        expires_in: Option<DateTime<Utc>>,

        #[command(flatten)]
        store: StoreArgs,
    },
    /// Show every token's name, first characters, creation and expiry
    List {
        /// As a JSON array
        #[arg(long)]
        json: bool,

        /// Only those that expire within this time, or have expired
        #[arg(long, value_name = "DURATION", value_parser = parse_expiry)]
        expiring: Option<DateTime<Utc>>,

        #[command(flatten)]
        store: StoreArgs,
    },
    /// Refuse tokens from now on
    Revoke {
        /// The names of the tokens. Instead of a name, the token itself or its first characters
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,

        #[command(flatten)]
        store: StoreArgs,
    },
}

/// Runs the command.
pub fn run(command: Command) -> Result<()> {
    match command {
        Command::Create { name, expires_in, store } => create(name, expires_in, &store),
        Command::List { json, expiring, store } => list(json, expiring, &store),
        Command::Revoke { names, store } => revoke(&names, &store),
    }
}

/// Prints a new token, and then stores it: a token that could not be printed was never in force.
fn create(name: TokenName, expires_at: Option<DateTime<Utc>>, args: &StoreArgs) -> Result<()> {
    ensure!(
        !name.as_str().starts_with(TOKEN_PREFIX),
        "a name that begins with {TOKEN_PREFIX} may be a token, and names are shown: choose another"
    );
    ensure!(
        !is_output_lost(),
        "standard output is closed or /dev/null, so nobody would see the token: none is issued"
    );
    let store = args.open()?;
    if store.tokens()?.iter().any(|token| token.name == name) {
        return Err(StoreError::TokenNameTaken { name, url: args.url.clone() }.into());
    }
    let Issued { token, stored } = token::issue(name, expires_at);
    print(&format!("{}\n", token.reveal())).context("no token is issued")?;
    store.add_token(&stored).context(
        "the printed token could not be stored (`plant-store token list` shows whether it is in \
         force)",
    )?;
    if let Some(expiry) = expires_at {
        let _ = writeln!(io::stderr(), "it expires at {}", in_seconds(expiry));
    }
    thread::sleep(LEASE);
    Ok(())
}

/// Prints the tokens; with `before`, only those that expire before it or have expired.
fn list(as_json: bool, before: Option<DateTime<Utc>>, args: &StoreArgs) -> Result<()> {
    let tokens = args.open()?.tokens()?;
    let is_shown = |token: &StoredToken| {
        before.is_none_or(|end| token.expires_at.is_some_and(|expiry| expiry <= end))
    };
    let listed: Vec<_> = tokens.into_iter().filter(is_shown).map(Listed::new).collect();
    if as_json {
        print(&(serde_json::to_string_pretty(&listed)? + "\n"))
    } else {
        print(&table(&listed))
    }
}

/// Revokes the tokens, or none if one of the texts names none.
fn revoke(texts: &[String], args: &StoreArgs) -> Result<()> {
    let store = args.open()?;
    let tokens = store.tokens()?;
    // Before the first one is revoked.
    let selected = texts.iter().map(|text| select(text, &tokens).context("nothing was revoked"));
    let names = selected.collect::<Result<Vec<_>>>()?;
    let mut revoked = tokens.iter().map(|token| &token.name).filter(|name| names.contains(name));
    let result = revoked.try_for_each(|name| {
        store.revoke_token(name)?;
        let _ = writeln!(io::stderr(), "revoked {name}");
        Ok(())
    });
    // Also if one could not be revoked: those before it are said to be.
    thread::sleep(LEASE);
    result
}
