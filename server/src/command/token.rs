//! `plant-store token`: issue, list and revoke.
//!
//! They change the store, and then wait for as long as a running server may use the tokens that it has
//! read before: the change is in force when the command returns.

use std::io::Write;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use chrono::{DateTime, SecondsFormat, SubsecRound, TimeDelta, Utc};
use clap::Subcommand;
use comfy_table::{Table, presets};
use serde::Serialize;

use crate::command::stdout::stdout;
use crate::command::store_args::StoreArgs;
use crate::command::value::time;
use crate::token::{LEASE, StoredToken, TokenName};

/// Issue, list and revoke tokens, also while the server runs
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Issue a token and print it, alone and for the only time
    Create {
        /// What to call it: in the list, in the log, and to revoke it
        name: TokenName,

        /// How long it is good for, such as 90d [default: until it is revoked]
        #[arg(long, value_name = "DURATION", value_parser = time, allow_hyphen_values = true)]
        expires_in: Option<humantime::Duration>,

        #[command(flatten)]
        store: StoreArgs,
    },
    /// Show every token's name, first characters, creation and expiry
    List {
        /// As a JSON array
        #[arg(long)]
        json: bool,

        #[command(flatten)]
        store: StoreArgs,
    },
    /// Refuse a token from now on
    Revoke {
        /// The token's name
        name: TokenName,

        #[command(flatten)]
        store: StoreArgs,
    },
}

/// Runs the command.
pub fn run(command: Command) -> Result<()> {
    let mut stdout = stdout();
    match command {
        Command::Create { name, expires_in, store } => {
            let expires_at = expires_in.map(|after| expiry(after.into())).transpose()?;
            let (token, stored) = StoredToken::issue(name, expires_at);
            let store = store.open()?;
            store.add_token(&stored)?;
            if let Err(cause) = writeln!(stdout, "{}", token.reveal()) {
                store.revoke_token(&stored.name)?;
                bail!("{cause}; nobody has seen the token, so it is revoked");
            }
            thread::sleep(LEASE);
        }
        Command::List { json, store } => {
            let tokens: Vec<_> = store.open()?.tokens()?.into_iter().map(Listed::from).collect();
            if json {
                serde_json::to_writer_pretty(&mut stdout, &tokens)?;
                writeln!(stdout)?;
            } else {
                writeln!(stdout, "{}", table(&tokens).trim_fmt())?;
            }
        }
        Command::Revoke { name, store } => {
            let store = store.open()?;
            store.revoke_token(&name)?;
            thread::sleep(LEASE);
        }
    }
    Ok(())
}

/// A store keeps seconds, so the time is rounded up: a token is good for at least as long as it was
/// to be.
fn expiry(after: Duration) -> Result<DateTime<Utc>> {
    let up_to_a_second = TimeDelta::nanoseconds(999_999_999);
    TimeDelta::from_std(after)
        .ok()
        .and_then(|after| Utc::now().checked_add_signed(after)?.checked_add_signed(up_to_a_second))
        .map(|expiry| expiry.trunc_subsecs(0))
        .context("--expires-in reaches past the end of the calendar")
}

/// A token as it is listed.
#[derive(Serialize)]
struct Listed {
    name: String,
    first_characters: String,
    created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    expired: bool,
}

impl From<StoredToken> for Listed {
    fn from(token: StoredToken) -> Self {
        let time = |time: DateTime<Utc>| time.to_rfc3339_opts(SecondsFormat::Secs, true);
        Self {
            expired: token.has_expired(),
            name: token.name.to_string(),
            first_characters: token.first_characters,
            created_at: time(token.created_at),
            expires_at: token.expires_at.map(time),
        }
    }
}

fn table(tokens: &[Listed]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(["NAME", "TOKEN", "CREATED", "EXPIRES"]);
    for token in tokens {
        table.add_row([
            token.name.as_str(),
            &format!("{}…", token.first_characters),
            &token.created_at,
            &match &token.expires_at {
                Some(expiry) if token.expired => format!("{expiry} (expired)"),
                Some(expiry) => expiry.clone(),
                None => "never".to_owned(),
            },
        ]);
    }
    table
}
