//! A bearer token, how one is issued, and for how long a server may use what it has read of tokens.
//!
//! A token is text in two places only: where it is parsed, and where it is shown to its owner,
//! once. Nothing here may print one.

mod bearer;

use std::time::Duration;

use chrono::{DateTime, Utc};
use plant_store_store::token::{StoredToken, TokenName};

pub use bearer::{FIRST_CHARACTERS, Token};

/// For how long a server accepts the tokens that it has read. So a command that has changed the
/// tokens waits for that time: then every server has read the change, or accepts no token.
pub const LEASE: Duration = Duration::from_secs(2);

/// A token that was issued, and is in no store yet.
pub struct Issued {
    /// For its owner.
    pub token: Token,
    /// What a store has to keep so that the token is accepted.
    pub stored: StoredToken,
}

/// Issues a token.
pub fn issue(name: TokenName, expires_at: Option<DateTime<Utc>>) -> Issued {
    let token = Token::random();
    let stored = StoredToken {
        name,
        digest: token.digest(),
        first_characters: token.reveal()[..FIRST_CHARACTERS].to_owned(),
        created_at: Utc::now(),
        expires_at,
    };
    Issued { token, stored }
}
