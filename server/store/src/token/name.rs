//! The name of a token.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

const LONGEST: usize = 64;

/// The name of a token: 1 to 64 letters, digits, `.`, `_` or `-`. It is safe to print in tables and
/// logs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TokenName(String);

/// The text is not a valid token name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a token's name is 1 to 64 letters, digits, `.`, `_` or `-`")]
pub struct InvalidName;

impl TokenName {
    /// The name of the token that the server creates for a new store.
    pub fn first() -> Self {
        Self("first".into())
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for TokenName {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        let is_valid = (1..=LONGEST).contains(&text.len()) && text.bytes().all(allowed);
        if is_valid { Ok(Self(text.to_owned())) } else { Err(InvalidName) }
    }
}

impl fmt::Display for TokenName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests;
