//! `plant-store token`: issues, lists and revokes tokens.
//!
//! A command that changes the tokens waits for the duration of the [`LEASE`] before it returns, so
//! the change is in force on every server when the command returns. No output may repeat a text
//! that may be a token.

mod discarded_output;
mod expiry;
mod listing;
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
use crate::command::token::discarded_output::is_stdout_discarded;
use crate::command::token::expiry::parse_expiry;
use crate::command::token::listing::{Listed, in_seconds, table};
use crate::command::token::selection::select;
use crate::names::TOKEN_PREFIX;
use crate::token::{self, Issued, LEASE};

/// Issue, list and revoke tokens, even while a server runs on the store
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Issue a token and print it. It cannot be shown again
    Create {
        /// A name for the token, shown in the list and in the log
        name: TokenName,

        /// Lifetime of the token, such as 90d or "1y 6months", in the units min, h, d, w, months
        /// and y, or the date on which it expires (at 00:00 UTC), such as 2031-12-31 [default: the
        /// token does not expire]
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
    /// List the name, first characters, creation and expiry of every token
    List {
        /// Print a JSON array
        #[arg(long)]
        json: bool,

        /// List only tokens that have expired or will expire within this time
        #[arg(long, value_name = "DURATION", value_parser = parse_expiry)]
        expiring: Option<DateTime<Utc>>,

        #[command(flatten)]
        store: StoreArgs,
    },
    /// Revoke tokens, so that they are no longer accepted
    Revoke {
        /// The names of the tokens. A token itself or its first characters also work
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

/// Prints a new token, and then stores it. In this order, a token that could not be printed is
/// never accepted.
fn create(name: TokenName, expires_at: Option<DateTime<Utc>>, args: &StoreArgs) -> Result<()> {
    ensure!(
        !name.as_str().starts_with(TOKEN_PREFIX),
        "a name that starts with {TOKEN_PREFIX} may be a token, and names are not secret: choose \
         another name"
    );
    ensure!(
        !is_stdout_discarded(),
        "no token was issued: standard output is closed or /dev/null, so nobody would see the token"
    );
    let store = args.open()?;
    if store.tokens()?.iter().any(|token| token.name == name) {
        return Err(StoreError::TokenNameTaken { name, url: args.url.clone() }.into());
    }
    let Issued { token, stored } = token::issue(name, expires_at);
    print(&format!("{}\n", token.reveal())).context("no token was issued")?;
    store.add_token(&stored).context(
        "the printed token could not be stored (`plant-store token list` shows whether it is \
         accepted)",
    )?;
    if let Some(expiry) = expires_at {
        let _ = writeln!(io::stderr(), "the token expires at {}", in_seconds(expiry));
    }
    thread::sleep(LEASE);
    Ok(())
}

/// Prints the tokens. With `before`, prints only tokens that expire before that time.
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

/// Revokes the tokens. Revokes none if one of the texts does not identify a token.
fn revoke(texts: &[String], args: &StoreArgs) -> Result<()> {
    let store = args.open()?;
    let tokens = store.tokens()?;
    // Resolve all texts before the first token is revoked.
    let selected = texts.iter().map(|text| select(text, &tokens).context("nothing was revoked"));
    let names = selected.collect::<Result<Vec<_>>>()?;
    let mut revoked = tokens.iter().map(|token| &token.name).filter(|name| names.contains(name));
    let result = revoked.try_for_each(|name| {
        store.revoke_token(name)?;
        let _ = writeln!(io::stderr(), "revoked {name}");
        Ok(())
    });
    // Wait even after a failure, because the tokens before it have been reported as revoked.
    thread::sleep(LEASE);
    result
}
