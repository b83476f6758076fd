//! The format of a bearer token, and how one is issued.
//!
//! A token is the prefix, 32 random base62 characters (190 bits), and the CRC-32 of these
//! characters as six base62 digits. The prefix and the checksum let a secret scanner recognize a
//! leaked token offline, and let the service refuse a mistyped token without a lookup.
//!
//! A token exists as text in only two places: where it is parsed, and where it is shown to its
//! owner, once. Nothing here may print a token.

use chrono::{DateTime, Utc};
use groundwork_store::token::{StoredToken, TokenDigest, TokenName};
use rand::{RngExt, distr::Alphanumeric};
use sha2::{Digest, Sha256};

/// Issues a new token with this prefix. Returns the token, to be shown to its owner, and the entry
/// that makes a store accept it.
pub fn issue(
    prefix: &str,
    name: TokenName,
    expires_at: Option<DateTime<Utc>>,
) -> (Token, StoredToken) {
    let token = Token::random(prefix);
    let stored = StoredToken {
        name,
        digest: digest(token.reveal()),
        first_characters: token.reveal()[..prefix.len() + SHOWN].to_owned(),
        created_at: Utc::now(),
        expires_at,
    };
    (token, stored)
}

const SECRET: usize = 32;
const CHECKSUM: usize = 6;

/// How many of the 32 random characters `token list` shows, so that the owner of a token can
/// recognize it: too few to guess the rest.
const SHOWN: usize = 4;

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// A new token. It does not implement `Debug`, so it cannot be logged by accident.
pub struct Token(String);

impl Token {
    /// Creates a token with the thread-local cryptographic generator, which is seeded by the
    /// operating system.
    fn random(prefix: &str) -> Self {
        let secret = [(); SECRET].map(|()| rand::rng().sample(Alphanumeric));
        let sum = checksum(&secret);
        let random = secret.iter().chain(&sum).map(|byte| char::from(*byte));
        Self(prefix.chars().chain(random).collect())
    }

    /// Returns the text of the token, to be shown to its owner. Everything else may use at most its
    /// prefix and [`SHOWN`] characters.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

/// Parses a token, accepted or not, and returns the digest that a store would keep of it. Returns
/// `None` if the prefix, the length, the alphabet or the checksum is wrong.
pub fn parse(prefix: &str, text: &str) -> Option<TokenDigest> {
    let random = text.as_bytes().strip_prefix(prefix.as_bytes())?;
    let (secret, sum) = random.split_at_checked(SECRET)?;
    let is_valid = random.iter().all(u8::is_ascii_alphanumeric) && sum == checksum(secret);
    is_valid.then(|| digest(text))
}

/// Plain SHA-256 is sufficient, because 190 random bits cannot be guessed with a dictionary.
fn digest(token: &str) -> TokenDigest {
    TokenDigest(Sha256::digest(token.as_bytes()).into())
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
mod tests {
    use super::*;

    #[test]
    fn issued_token_parses_to_the_same_digest() {
        let token = Token::random("row_");
        assert_eq!(token.reveal().len(), 42);
        assert_eq!(parse("row_", token.reveal()), Some(digest(token.reveal())));
        assert_ne!(Token::random("row_").reveal(), token.reveal());
    }

    /// A token must stay well-formed in every later release.
    #[test]
    fn token_of_the_first_release_parses() {
        assert!(parse("row_", "row_0123456789ABCDEFGHIJabcdefghij0038H4se").is_some());
    }

    #[test]
    fn mistyped_token_is_malformed() {
        let token = Token::random("row_");
        let good = token.reveal();
        for position in 0..good.len() {
            let mut bytes = good.as_bytes().to_vec();
            bytes[position] = if bytes[position] == b'x' { b'y' } else { b'x' };
            let bad = String::from_utf8(bytes).expect("ASCII");
            assert!(parse("row_", &bad).is_none(), "character {position} changed");
        }
        for bad in ["", "row_", &good[1..], &good[..41], &format!("{good}0"), &good.to_uppercase()]
        {
            assert!(parse("row_", bad).is_none(), "{bad:?}");
        }
        let multibyte = format!("row_{}{}", "é".repeat(16), "000000");
        assert!(parse("row_", &multibyte).is_none());
    }
}
