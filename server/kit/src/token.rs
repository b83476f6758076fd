//! Bearer tokens: their format, how they are issued, and the lease on tokens that a server has
//! read.
//!
//! A token is the prefix, 32 random base62 characters (190 bits), and the CRC-32 of these
//! characters as six base62 digits. The prefix and the checksum let a secret scanner recognize a
//! leaked token offline, and let the service refuse a mistyped token without a lookup.
//!
//! A token exists as text in only two places: where it is parsed, and where it is shown to its
//! owner, once. Nothing here may print a token.

use std::borrow::Cow;
use std::time::Duration;

use chrono::{DateTime, Utc};
use groundwork_store::token::{StoredToken, TokenDigest, TokenName};
use rand::{RngExt, distr::Alphanumeric};
use sha2::{Digest, Sha256};

/// How long a server may use the tokens that it has read.
///
/// A command that changes the tokens waits for this duration. After that, every server has either
/// read the change or accepts no token.
pub const LEASE: Duration = Duration::from_secs(2);

/// A new token that is not in a store yet.
pub struct Issued {
    /// The token, to be shown to its owner.
    pub token: Token<'static>,
    /// The entry that makes a store accept the token.
    pub stored: StoredToken,
}

/// Issues a new token with this prefix.
pub fn issue(prefix: &str, name: TokenName, expires_at: Option<DateTime<Utc>>) -> Issued {
    let token = Token::random(prefix);
    let stored = StoredToken {
        name,
        digest: token.digest(),
        first_characters: token.reveal()[..first_characters(prefix)].to_owned(),
        created_at: Utc::now(),
        expires_at,
    };
    Issued { token, stored }
}

const SECRET: usize = 32;
const CHECKSUM: usize = 6;

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Returns the number of characters of a token that `token list` shows, so that its owner can
/// recognize it: the prefix and four of the 32 random characters, too few to guess the rest.
pub fn first_characters(prefix: &str) -> usize {
    prefix.len() + 4
}

/// A well-formed token, accepted or not. It does not implement `Debug`, so it cannot be logged by
/// accident.
pub struct Token<'a>(Cow<'a, str>);

impl<'a> Token<'a> {
    /// Creates a token with the thread-local cryptographic generator, which is seeded by the
    /// operating system.
    pub fn random(prefix: &str) -> Self {
        let secret = [(); SECRET].map(|()| rand::rng().sample(Alphanumeric));
        let sum = checksum(&secret);
        let random = secret.iter().chain(&sum).map(|byte| char::from(*byte));
        Self(prefix.chars().chain(random).collect::<String>().into())
    }

    /// Parses a token. Returns `None` if the prefix, the length, the alphabet or the checksum is
    /// wrong.
    pub fn parse(prefix: &str, text: &'a str) -> Option<Self> {
        let random = text.as_bytes().strip_prefix(prefix.as_bytes())?;
        let (secret, sum) = random.split_at_checked(SECRET)?;
        let is_valid = random.iter().all(u8::is_ascii_alphanumeric) && sum == checksum(secret);
        is_valid.then_some(Self(text.into()))
    }

    /// Returns the digest that the store keeps of this token. Plain SHA-256 is sufficient, because
    /// 190 random bits cannot be guessed with a dictionary.
    pub fn digest(&self) -> TokenDigest {
        TokenDigest(Sha256::digest(self.0.as_bytes()).into())
    }

    /// Returns the text of the token, to be shown to its owner. Everything else may use at most its
    /// [`first_characters`].
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

fn checksum(secret: &[u8]) -> [u8; CHECKSUM] {
    let mut rest = crc32fast::hash(secret);
    let mut digits = [b'0'; CHECKSUM];
    for digit in digits.iter_mut().rev() {
        *digit = BASE62[(rest % 62) as usize];
        rest /= 62;
    }
    digits
}

#[cfg(test)]
mod tests;
