//! A bearer token, and how one is issued.
//!
//! A token is text in two places only: where it is parsed, and where it is shown to its owner,
//! once. Nothing here may print one.

mod bearer;

use std::time::Duration;

use chrono::{DateTime, Utc};
use plant_store_store::token::{StoredToken, TokenName};

pub use bearer::{PREFIX, SHOWN, Token};

/// For how long a server accepts the tokens that it has read. So a command that has changed the
/// tokens waits for that time: then every server has read the change, or accepts no token.
pub const LEASE: Duration = Duration::from_secs(2);

/// Issues a token: the token for its owner, and what a store has to keep so that the token is
/// accepted.
pub fn issue(name: TokenName, expires_at: Option<DateTime<Utc>>) -> (Token, StoredToken) {
    let token = Token::random();
    let stored = StoredToken {
        name,
        digest: token.digest(),
        first_characters: token.reveal()[..SHOWN].to_owned(),
        created_at: Utc::now(),
        expires_at,
    };
    (token, stored)
}
