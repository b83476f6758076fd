//! Bearer tokens: their format, how they are issued, and the lease on tokens that a server has
//! read.
//!
//! A token exists as text in only two places: where it is parsed, and where it is shown to its
//! owner, once. Nothing here may print a token.

mod bearer;

use std::time::Duration;

use chrono::{DateTime, Utc};
use plant_store_store::token::{StoredToken, TokenName};

pub use bearer::{FIRST_CHARACTERS, Token};

/// How long a server may use the tokens that it has read.
///
/// A command that changes the tokens waits for this duration. After that, every server has either
/// read the change or accepts no token.
pub const LEASE: Duration = Duration::from_secs(2);

/// A new token that is not in a store yet.
pub struct Issued {
    /// The token, to be shown to its owner.
    pub token: Token,
    /// The entry that makes a store accept the token.
    pub stored: StoredToken,
}

/// Issues a new token.
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
