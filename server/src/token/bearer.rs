//! A bearer token: made, parsed, hashed.
//!
//! The prefix, then 32 random base62 characters (190 bits), then the CRC-32 of those 32 as six base62
//! digits. The prefix and the checksum let a secret scanner recognise a leaked token offline, and
//! let the service refuse a mistyped one without a look-up.

use plant_store_store::token::TokenDigest;
use rand::{RngExt, distr::Alphanumeric};
use sha2::{Digest, Sha256};

use crate::names::TOKEN_PREFIX;

const SECRET: usize = 32;
const CHECKSUM: usize = 6;
const LENGTH: usize = TOKEN_PREFIX.len() + SECRET + CHECKSUM;

/// How many characters of a token its listing shows, by which an owner tells tokens apart: the
/// prefix and four of the 32 random characters, too few to guess the rest.
pub const FIRST_CHARACTERS: usize = TOKEN_PREFIX.len() + 4;

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// A well-formed token, accepted or not. It has no `Debug`, so no log can hold one.
pub struct Token([u8; LENGTH]);

impl Token {
    /// A new token from the thread's cryptographic generator, seeded by the operating system.
    pub fn random() -> Self {
        let mut token = [0; LENGTH];
        let (prefix, random) = token.split_at_mut(TOKEN_PREFIX.len());
        let (secret, sum) = random.split_at_mut(SECRET);
        prefix.copy_from_slice(TOKEN_PREFIX.as_bytes());
        secret.fill_with(|| rand::rng().sample(Alphanumeric));
        sum.copy_from_slice(&checksum(secret));
        Self(token)
    }

    /// The token that `text` is; none if the prefix, the length, the alphabet or the checksum is
    /// wrong.
    pub fn parse(text: &str) -> Option<Self> {
        let token: [u8; LENGTH] = text.as_bytes().try_into().ok()?;
        let random = token.strip_prefix(TOKEN_PREFIX.as_bytes())?;
        let (secret, sum) = random.split_at(SECRET);
        let is_one = random.iter().all(u8::is_ascii_alphanumeric) && sum == checksum(secret);
        is_one.then_some(Self(token))
    }

    /// What the store keeps of this token. Plain SHA-256 is enough: no dictionary can guess 190
    /// random bits.
    pub fn digest(&self) -> TokenDigest {
        TokenDigest(Sha256::digest(self.0).into())
    }

    /// The token itself, to show to its owner. Nothing else may have more of it than
    /// [`FIRST_CHARACTERS`].
    pub fn reveal(&self) -> &str {
        str::from_utf8(&self.0).expect("a token is base62 behind an ASCII prefix")
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
