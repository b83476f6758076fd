//! Finds the token that a person means, given its name, the whole token or its first characters.
//!
//! No error may repeat a text that may be a token.

use anyhow::{Error, Result};
use plant_store_store::StoreError;
use plant_store_store::token::{StoredToken, TokenName};

use crate::names::TOKEN_PREFIX;
use crate::token::{FIRST_CHARACTERS, Token};

/// The text does not identify a single token.
#[derive(Debug, thiserror::Error)]
enum NotSelected {
    #[error("several tokens start with these characters: use the name of the token")]
    Ambiguous,
    #[error(
        "there is no such token: expected a name, a whole token, or the first {FIRST_CHARACTERS} \
         characters as listed; the text is not repeated here, because it may be a secret"
    )]
    Unknown,
}

/// Returns the name of the token that `text` identifies.
pub fn select(text: &str, tokens: &[StoredToken]) -> Result<TokenName> {
    if let Some(token) = tokens.iter().find(|token| token.name.as_str() == text) {
        return Ok(token.name.clone());
    }
    if !text.starts_with(TOKEN_PREFIX) {
        return Err(StoreError::NoSuchToken(text.parse().map_err(Error::msg)?).into());
    }
    let digest = Token::parse(text).map(|token| token.digest());
    let matches = |token: &&StoredToken| match digest {
        Some(digest) => token.digest == digest,
        None => text.trim_end_matches('…') == token.first_characters,
    };
    let matching: Vec<_> = tokens.iter().filter(matches).collect();
    match matching[..] {
        [token] => Ok(token.name.clone()),
        [] => Err(NotSelected::Unknown.into()),
        _ => Err(NotSelected::Ambiguous.into()),
    }
}
