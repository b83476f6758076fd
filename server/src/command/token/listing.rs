//! The output of `token list`, as JSON or as a table. It never contains a whole token.

use std::fmt::Write;

use chrono::{DateTime, SecondsFormat, Utc};
use plant_store_store::token::StoredToken;
use serde::Serialize;

/// An entry of the list.
#[derive(Serialize)]
pub struct Listed {
    #[serde(flatten)]
    token: StoredToken,
    expired: bool,
}

impl Listed {
    pub fn new(token: StoredToken) -> Self {
        Self { expired: token.has_expired(), token }
    }
}

/// Formats a time with a precision of seconds, as stores keep it (RFC 3339).
pub fn in_seconds(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// Formats a table with a header and a line for each token.
pub fn table(tokens: &[Listed]) -> String {
    const NAME: &str = "NAME";
    let lengths = tokens.iter().map(|listed| listed.token.name.as_str().len());
    let width = lengths.fold(NAME.len(), usize::max);
    let mut table = format!("{NAME:width$}  TOKEN      CREATED               EXPIRES\n");
    for Listed { token, expired } in tokens {
        let name = token.name.as_str();
        let start = &token.first_characters;
        let created_at = in_seconds(token.created_at);
        let expires_at = token.expires_at.map_or("never".into(), in_seconds);
        let mark = if *expired { " (expired)" } else { "" };
        let _ = writeln!(table, "{name:width$}  {start}…  {created_at}  {expires_at}{mark}");
    }
    table
}
