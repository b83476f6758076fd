//! Which token a person means: by its name, by the whole token, or by its first characters.
//!
//! No error repeats a text that may be a token.

use anyhow::{Error, Result};
use plant_store_store::StoreError;
use plant_store_store::token::{StoredToken, TokenName};

use crate::names::TOKEN_PREFIX;
use crate::token::{FIRST_CHARACTERS, Token};

/// Why no token is meant.
#[derive(Debug, thiserror::Error)]
enum NotSelected {
    #[error("several tokens begin so: revoke one by its name")]
    Several,
    #[error(
        "there is no such token: expected a name, a whole token, or the {FIRST_CHARACTERS} first \
         characters that the list shows; the text, which may be a secret, is not repeated"
    )]
    None,
}

/// The name of the token that is named so, or is this one, or begins so.
pub fn select(text: &str, tokens: &[StoredToken]) -> Result<TokenName> {
    if let Some(token) = tokens.iter().find(|token| token.name.as_str() == text) {
        return Ok(token.name.clone());
    }
    if !text.starts_with(TOKEN_PREFIX) {
        return Err(StoreError::NoSuchToken(text.parse().map_err(Error::msg)?).into());
    }
    let digest = Token::parse(text).map(|token| token.digest());
    let is_meant = |token: &&StoredToken| match digest {
        Some(digest) => token.digest == digest,
        None => text.trim_end_matches('…') == token.first_characters,
    };
    let meant: Vec<_> = tokens.iter().filter(is_meant).collect();
    match meant[..] {
        [token] => Ok(token.name.clone()),
        [] => Err(NotSelected::None.into()),
        _ => Err(NotSelected::Several.into()),
    }
}
