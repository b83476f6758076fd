//! The format of bearer tokens.
//!
//! A token is the prefix, 32 random base62 characters (190 bits), and the CRC-32 of these
//! characters as six base62 digits. The prefix and the checksum let a secret scanner recognize a
//! leaked token offline, and let the service refuse a mistyped token without a lookup.

use plant_store_store::token::TokenDigest;
use rand::{RngExt, distr::Alphanumeric};
use sha2::{Digest, Sha256};

use crate::names::TOKEN_PREFIX;

const SECRET: usize = 32;
const CHECKSUM: usize = 6;
const LENGTH: usize = TOKEN_PREFIX.len() + SECRET + CHECKSUM;

/// The number of characters of a token that `token list` shows, so that its owner can recognize it:
/// the prefix and four of the 32 random characters, too few to guess the rest.
pub const FIRST_CHARACTERS: usize = TOKEN_PREFIX.len() + 4;

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// A well-formed token, accepted or not. It does not implement `Debug`, so it cannot be logged by
/// accident.
pub struct Token([u8; LENGTH]);

impl Token {
    /// Creates a token with the thread-local cryptographic generator, which is seeded by the
    /// operating system.
    pub fn random() -> Self {
        let mut token = [0; LENGTH];
        let (prefix, random) = token.split_at_mut(TOKEN_PREFIX.len());
        let (secret, sum) = random.split_at_mut(SECRET);
        prefix.copy_from_slice(TOKEN_PREFIX.as_bytes());
        secret.fill_with(|| rand::rng().sample(Alphanumeric));
        sum.copy_from_slice(&checksum(secret));
        Self(token)
    }

    /// Parses a token. Returns `None` if the prefix, the length, the alphabet or the checksum is
    /// wrong.
    pub fn parse(text: &str) -> Option<Self> {
        let token: [u8; LENGTH] = text.as_bytes().try_into().ok()?;
        let random = token.strip_prefix(TOKEN_PREFIX.as_bytes())?;
        let (secret, sum) = random.split_at(SECRET);
        let is_valid = random.iter().all(u8::is_ascii_alphanumeric) && sum == checksum(secret);
        is_valid.then_some(Self(token))
    }

    /// Returns the digest that the store keeps of this token. Plain SHA-256 is sufficient, because
    /// 190 random bits cannot be guessed with a dictionary.
    pub fn digest(&self) -> TokenDigest {
        TokenDigest(Sha256::digest(self.0).into())
    }

    /// Returns the text of the token, to be shown to its owner. Everything else may use at most its
    /// [`FIRST_CHARACTERS`].
    pub fn reveal(&self) -> &str {
        str::from_utf8(&self.0).expect("a token is an ASCII prefix and base62 characters")
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
