//! `plant-store token`: issue, list and revoke.
//!
//! These work on the store; a running server sees the change when it next reloads its tokens.

use std::io::{self, Write};
use std::time::Duration;

use anyhow::{Context, Result};
use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use clap::Subcommand;
use comfy_table::{Table, presets};
use serde::Serialize;

use crate::command::store_args::StoreArgs;
use crate::store;
use crate::token::{StoredToken, TokenName};

/// Issue, list and revoke tokens, also while the server runs
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Issue a token and print it, alone and for the only time
    Create {
        /// What to call it: in the list, in the log, and to revoke it
        name: TokenName,

        /// How long it is good for, such as 90d [default: until it is revoked]
        #[arg(long, value_name = "DURATION", value_parser = humantime::parse_duration)]
        expires_in: Option<Duration>,

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
    /// Refuse a token from about a second later on
    Revoke {
        /// The token's name
        name: TokenName,

        #[command(flatten)]
        store: StoreArgs,
    },
}

/// Runs the command.
pub fn run(command: Command) -> Result<()> {
    let mut stdout = io::stdout().lock();
    match command {
        Command::Create { name, expires_in, store } => {
            let expires_at = expires_in.map(expiry).transpose()?;
            let (token, stored) = StoredToken::issue(name, expires_at);
            store::open(&store.url)?.add_token(&stored)?;
            writeln!(stdout, "{}", token.reveal())?;
        }
        Command::List { json, store } => {
            let tokens: Vec<_> =
                store::open(&store.url)?.tokens()?.into_iter().map(Listed::from).collect();
            if json {
                serde_json::to_writer_pretty(&mut stdout, &tokens)?;
                writeln!(stdout)?;
            } else {
                writeln!(stdout, "{}", table(&tokens).trim_fmt())?;
            }
        }
        Command::Revoke { name, store } => store::open(&store.url)?.revoke_token(&name)?,
    }
    Ok(())
}

fn expiry(after: Duration) -> Result<DateTime<Utc>> {
    TimeDelta::from_std(after)
        .ok()
        .and_then(|after| Utc::now().checked_add_signed(after))
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
}

impl From<StoredToken> for Listed {
    fn from(token: StoredToken) -> Self {
        let time = |time: DateTime<Utc>| time.to_rfc3339_opts(SecondsFormat::Secs, true);
        Self {
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
            token.expires_at.as_deref().unwrap_or("never"),
        ]);
    }
    table
}
