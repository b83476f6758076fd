//! `token`: issues, lists and revokes tokens.
//!
//! A command that changes the tokens waits for the duration of the [`LEASE`] before it returns, so
//! the change is in force on every server when the command returns. No output may repeat a text
//! that may be a token, and a list never contains a whole token.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::thread;

use anyhow::{Context, Result, bail, ensure};
use chrono::{DateTime, SecondsFormat, SubsecRound, TimeDelta, Utc};
use clap::Subcommand;
use groundwork_store::token::{StoredToken, TokenName};
use groundwork_store::{Engine, Mode};
use humantime::Duration;
use serde::Serialize;

use crate::command::shared::{StoreArgs, print};
use crate::service::Service;
use crate::tokens::{self, LEASE};

/// Issue, list and revoke tokens, even while a server runs on the store
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Issue a token and print it. It cannot be shown again
    Create {
        /// A name for the token, shown in the list and in the log
        name: TokenName,

        /// Lifetime of the token, such as 90d or "1y 6months" (m is a minute, M a month) [default:
        /// the token does not expire]
        #[arg(long, value_name = "DURATION")]
        expires_in: Option<Duration>,

        #[command(flatten)]
        store: StoreArgs,
    },
    /// List the name, first characters, creation and expiry of every token
    List {
        /// Print a JSON array
        #[arg(long)]
        json: bool,

        /// List only tokens that have expired or will expire within this time
        #[arg(long, value_name = "DURATION")]
        expiring: Option<Duration>,

        #[command(flatten)]
        store: StoreArgs,
    },
    /// Revoke tokens, so that they are no longer accepted
    Revoke {
        /// The names of the tokens. A token itself also works
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,

        #[command(flatten)]
        store: StoreArgs,
    },
}

/// Runs the command.
pub fn run(service: &'static Service, command: Command) -> Result<()> {
    match command {
        Command::Create { name, expires_in, store } => create(service, name, expires_in, &store),
        Command::List { json, expiring, store } => list(service, json, expiring, &store),
        Command::Revoke { names, store } => revoke(service, &names, &store),
    }
}

/// Creates a token, and returns once every server accepts it.
fn create(
    service: &'static Service,
    name: TokenName,
    expires_in: Option<Duration>,
    args: &StoreArgs,
) -> Result<()> {
    let prefix = service.token_prefix;
    ensure!(
        !name.as_str().starts_with(prefix),
        "a name that starts with {prefix} may be a token, and names are not secret: choose another \
         name"
    );
    let expires_at = expires_in.map(end_of).transpose()?;
    let store = args.open(&service.names, Mode::Change)?;
    ensure!(
        store.tokens()?.iter().all(|token| token.name != name),
        "a token named \"{name}\" already exists: revoke it in {}, or choose another name",
        args.url
    );
    let stored = issue(service, &*store, name, expires_at, "")?;
    let expiry = expires_at
        .map_or("never expires".into(), |expiry| format!("expires at {}", in_seconds(expiry)));
    let url = args.url.absolute();
    let _ = writeln!(io::stderr(), "{url} accepts the token {}, which {expiry}", stored.name);
    thread::sleep(LEASE);
    Ok(())
}

/// Prints a new token after `label`, and then stores it. In this order, a token that could not be
/// printed is never accepted.
pub fn issue(
    service: &Service,
    store: &dyn Engine,
    name: TokenName,
    expires_at: Option<DateTime<Utc>>,
    label: &str,
) -> Result<StoredToken> {
    let (token, stored) = tokens::issue(service.token_prefix, name, expires_at);
    print(&format!("{label}{}\n", token.reveal())).context("no token was issued")?;
    store.add_token(&stored).with_context(|| {
        let program = service.names.program;
        format!(
            "the printed token could not be stored (`{program} token list` shows whether it is \
             accepted)"
        )
    })?;
    Ok(stored)
}

/// Returns the end of a duration that begins now. Stores keep whole seconds, so the time is rounded
/// up: a token is never valid for less than the given duration.
fn end_of(duration: Duration) -> Result<DateTime<Utc>> {
    let almost_a_second = TimeDelta::nanoseconds(999_999_999);
    let end = TimeDelta::from_std(*duration).ok().and_then(|duration| {
        Utc::now().checked_add_signed(duration)?.checked_add_signed(almost_a_second)
    });
    Ok(end.context("the duration is too long")?.trunc_subsecs(0))
}

/// Prints the tokens. With `within`, prints only tokens that expire within that time.
fn list(
    service: &'static Service,
    as_json: bool,
    within: Option<Duration>,
    args: &StoreArgs,
) -> Result<()> {
    let before = within.map(end_of).transpose()?;
    let tokens = args.open(&service.names, Mode::Read)?.tokens()?;
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
fn revoke(service: &'static Service, texts: &[String], args: &StoreArgs) -> Result<()> {
    let store = args.open(&service.names, Mode::Change)?;
    let tokens = store.tokens()?;
    // Resolve all texts before the first token is revoked.
    let selected = texts
        .iter()
        .map(|text| select(service.token_prefix, text, &tokens).context("nothing was revoked"));
    let names = selected.collect::<Result<Vec<_>>>()?;
    let mut revoked = tokens.iter().map(|token| &token.name).filter(|name| names.contains(name));
    let result = revoked.try_for_each(|name| {
        store.revoke_token(name)?;
        let _ = writeln!(io::stderr(), "revoked {name} in {}", args.url.absolute());
        Ok(())
    });
    // Wait even after a failure, because the tokens before it have been reported as revoked.
    thread::sleep(LEASE);
    result
}

/// Returns the name of the token with that name, or of that token. The error does not repeat a text
/// that may be a token.
fn select<'a>(prefix: &str, text: &str, tokens: &'a [StoredToken]) -> Result<&'a TokenName> {
    let digest = tokens::parse(prefix, text);
    let is_meant =
        |token: &&StoredToken| token.name.as_str() == text || digest == Some(token.digest);
    match tokens.iter().find(is_meant) {
        Some(token) => Ok(&token.name),
        None if text.starts_with(prefix) => bail!("there is no such token"),
        None => {
            let name: TokenName = text.parse()?;
            bail!("there is no token named \"{name}\"")
        }
    }
}

/// An entry of the list.
#[derive(Serialize)]
struct Listed {
    #[serde(flatten)]
    token: StoredToken,
    expired: bool,
}

impl Listed {
    fn new(token: StoredToken) -> Self {
        Self { expired: token.has_expired(), token }
    }
}

/// Formats a time with a precision of seconds, as stores keep it (RFC 3339).
fn in_seconds(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// Formats a table with a header and a line for each token.
fn table(tokens: &[Listed]) -> String {
    const NAME: &str = "NAME";
    const TOKEN: &str = "TOKEN";
    let lengths = tokens.iter().map(|listed| listed.token.name.as_str().len());
    let width = lengths.fold(NAME.len(), usize::max);
    let starts = tokens.iter().map(|listed| listed.token.first_characters.len() + 1);
    let start_width = starts.fold(TOKEN.len(), usize::max);
    let mut table = format!("{NAME:width$}  {TOKEN:start_width$}  CREATED               EXPIRES\n");
    for Listed { token, expired } in tokens {
        let name = token.name.as_str();
        let start = format!("{}…", token.first_characters);
        let created_at = in_seconds(token.created_at);
        let expires_at = token.expires_at.map_or("never".into(), in_seconds);
        let mark = if *expired { " (expired)" } else { "" };
        let _ = writeln!(
            table,
            "{name:width$}  {start:start_width$}  {created_at}  {expires_at}{mark}"
        );
    }
    table
}
