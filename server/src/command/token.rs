//! `plant-store token`: issue, list and revoke.
//!
//! These work on the store; a running server hears of it when it reloads its tokens.

use std::io::{self, Write};
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context, Result};
use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use comfy_table::{Table, presets};
use serde::Serialize;

use crate::cli::TokenCommand;
use crate::store::{self, Engine, StoreError, StoredToken};
use crate::token::Token;

const LONGEST_NAME: usize = 64;

/// What a token is called: 1 to 64 letters, digits, `.`, `_` or `-`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenName(String);

/// The text cannot name a token.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("a token's name is 1 to {LONGEST_NAME} letters, digits, `.`, `_` or `-`")]
pub struct InvalidTokenName;

impl TokenName {
    /// What the server calls the token that it issues for a new store.
    #[must_use]
    pub fn first() -> Self {
        Self("first".into())
    }
}

impl FromStr for TokenName {
    type Err = InvalidTokenName;

    fn from_str(text: &str) -> Result<Self, InvalidTokenName> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        if (1..=LONGEST_NAME).contains(&text.len()) && text.bytes().all(allowed) {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidTokenName)
        }
    }
}

/// Runs the command.
///
/// # Errors
///
/// Where the store refuses, or standard output does.
pub fn run(command: TokenCommand) -> Result<()> {
    let mut stdout = io::stdout().lock();
    match command {
        TokenCommand::Create { name, expires_in, store } => {
            let expires_at = expires_in.map(expiry).transpose()?;
            let token = issue(&*store::open(&store.store)?, &name, expires_at)?;
            writeln!(stdout, "{}", token.reveal())?;
        }
        TokenCommand::List { json, store } => {
            let tokens: Vec<_> =
                store::open(&store.store)?.tokens()?.into_iter().map(Listed::from).collect();
            if json {
                serde_json::to_writer_pretty(&mut stdout, &tokens)?;
                writeln!(stdout)?;
            } else {
                writeln!(stdout, "{}", table(&tokens).trim_fmt())?;
            }
        }
        TokenCommand::Revoke { name, store } => {
            store::open(&store.store)?.revoke_token(&name.0)?;
        }
    }
    Ok(())
}

/// Issues a token: its digest goes to the store, the token itself to the caller alone.
///
/// # Errors
///
/// [`StoreError`], where the name is taken or the store fails.
pub fn issue(
    engine: &dyn Engine,
    name: &TokenName,
    expires_at: Option<DateTime<Utc>>,
) -> Result<Token, StoreError> {
    let token = Token::issue();
    engine.add_token(&StoredToken {
        name: name.0.clone(),
        digest: token.digest(),
        first_characters: token.first_characters().to_owned(),
        created_at: Utc::now(),
        expires_at,
    })?;
    Ok(token)
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
            name: token.name,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_fits_a_table_and_a_log() {
        for good in ["a", "CI-2026.1_x", &"n".repeat(64)] {
            assert!(good.parse::<TokenName>().is_ok(), "{good}");
        }
        for bad in ["", "a b", "a\nb", "é", &"n".repeat(65)] {
            assert_eq!(bad.parse::<TokenName>(), Err(InvalidTokenName), "{bad:?}");
        }
    }
}
