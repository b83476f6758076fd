//! `plant-store token`: issue, list and revoke.
//!
//! They change the store, and then wait for as long as a running server may use the tokens that it has
//! read before: the change is in force when the command returns. No output repeats what may be a token.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Error, Result, bail, ensure};
use chrono::{DateTime, NaiveDate, NaiveTime, SecondsFormat, SubsecRound, TimeDelta, Utc};
use clap::Subcommand;
use plant_store_store::StoreError;
use plant_store_store::token::{StoredToken, TokenName};
use serde::Serialize;

use crate::command::common::{StoreArgs, of_store, print};
use crate::token::{self, LEASE, PREFIX, SHOWN, Token};

const TEN_YEARS: Duration = Duration::from_hours(10 * 366 * 24);

/// Issue, list and revoke tokens, also while the server runs
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Issue a token and print it, alone and for the only time
    Create {
        /// What to call it: in the list, in the log, and to revoke it
        name: TokenName,

        /// How long it is good for, such as 90d or "1y 6months", in the units min, h, d, w, months and
        /// y; or the day at whose beginning in UTC it expires, such as 2031-12-31 [default: until
        /// it is revoked]
        #[arg(long, value_name = "DURATION", value_parser = expiry, allow_hyphen_values = true)]
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
        #[arg(long, value_name = "DURATION", value_parser = expiry)]
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
        Command::Create { name, expires_in, store: args } => {
            ensure!(
                !name.as_str().starts_with(PREFIX),
                "a name that begins with {PREFIX} may be a token, and names are shown: choose another"
            );
            let (token, stored) = token::issue(name, expires_in);
            let store = args.open()?;
            store.add_token(&stored).map_err(of_store(&args.url))?;
            if let Err(cause) = print(&format!("{}\n", token.reveal())) {
                store.revoke_token(&stored.name)?;
                bail!("{cause:#}; nobody has seen the token, so it is revoked");
            }
            if let Some(expiry) = expires_in {
                let _ = writeln!(io::stderr(), "it expires at {}", text(expiry));
            }
            thread::sleep(LEASE);
        }
        Command::List { json, expiring, store: args } => {
            let is_shown = |token: &StoredToken| {
                expiring.is_none_or(|end| token.expires_at.is_some_and(|expiry| expiry <= end))
            };
            let tokens = args.open()?.tokens().map_err(of_store(&args.url))?;
            let listed = |token: StoredToken| Listed { expired: token.has_expired(), token };
            let tokens: Vec<_> = tokens.into_iter().filter(is_shown).map(listed).collect();
            let json = json.then(|| serde_json::to_string_pretty(&tokens)).transpose()?;
            print(&json.map_or_else(|| table(&tokens), |json| json + "\n"))?;
        }
        Command::Revoke { names, store: args } => {
            let store = args.open()?;
            let tokens = store.tokens().map_err(of_store(&args.url))?;
            // Before the first one is revoked.
            let names =
                names.iter().map(|text| named(text, &tokens).context("nothing was revoked"));
            let names = names.collect::<Result<Vec<_>>>()?;
            for StoredToken { name, .. } in tokens.iter().filter(|it| names.contains(&it.name)) {
                store.revoke_token(name).map_err(of_store(&args.url))?;
                let _ = writeln!(io::stderr(), "revoked {name}");
            }
            thread::sleep(LEASE);
        }
    }
    Ok(())
}

/// The end of that time, such as that of a token that is issued now. A store keeps seconds, so it is
/// rounded up: a token is good for at least as long as it was to be.
fn expiry(text: &str) -> Result<DateTime<Utc>, String> {
    if let Ok(day) = text.parse::<NaiveDate>() {
        let expiry = day.and_time(NaiveTime::MIN).and_utc();
        return Some(expiry).filter(|it| *it > Utc::now()).ok_or("this day has begun".into());
    }
    // humantime takes `m` for minutes, and `M` for months.
    let mut units = text.split(|letter: char| !letter.is_alphabetic());
    if units.any(|unit| unit.eq_ignore_ascii_case("m")) {
        let number = text.split(['m', 'M']).next().unwrap_or_default();
        return Err(format!("write {number}min or {number}months"));
    }
    let after = humantime::parse_duration(text).ok();
    let after = after.filter(|it| (Duration::from_mins(1)..=TEN_YEARS).contains(it));
    let after = after.ok_or("expected 1min to 10y, such as 90d, or a day such as 2040-12-31")?;
    Ok((Utc::now() + after + TimeDelta::nanoseconds(999_999_999)).trunc_subsecs(0))
}

/// The name of the token that is named so, or is this one, or begins so.
fn named(text: &str, tokens: &[StoredToken]) -> Result<TokenName> {
    if let Some(token) = tokens.iter().find(|it| it.name.as_str() == text) {
        return Ok(token.name.clone());
    }
    if !text.starts_with(PREFIX) {
        return Err(StoreError::NoSuchToken(text.parse().map_err(Error::msg)?).into());
    }
    let whole = Token::parse(text).map(|token| token.digest());
    let is_it = |it: &&StoredToken| match whole {
        Some(digest) => it.digest == digest,
        None => text.trim_end_matches('…') == it.first_characters,
    };
    let mut found = tokens.iter().filter(is_it);
    match (found.next(), found.next()) {
        (Some(token), None) => Ok(token.name.clone()),
        (Some(_), Some(_)) => bail!("several tokens begin so: revoke one by its name"),
        (None, _) => {
            bail!(
                "there is no such token: expected a name, a whole token, or the {SHOWN} first \
                 characters that the list shows; the text, which may be a secret, is not repeated"
            )
        }
    }
}

/// A token as it is listed.
#[derive(Serialize)]
struct Listed {
    #[serde(flatten)]
    token: StoredToken,
    expired: bool,
}

fn text(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Secs, true)
}

fn table(tokens: &[Listed]) -> String {
    let width = tokens.iter().map(|it| it.token.name.as_str().len()).fold(4, usize::max);
    let mut table = format!("{:width$}  TOKEN      CREATED               EXPIRES\n", "NAME");
    for Listed { token, expired } in tokens {
        let (name, start) = (token.name.as_str(), &token.first_characters);
        let created_at = text(token.created_at);
        let expires_at = token.expires_at.map_or("never".into(), text);
        let mark = if *expired { " (expired)" } else { "" };
        let _ = writeln!(table, "{name:width$}  {start}…  {created_at}  {expires_at}{mark}");
    }
    table
}
