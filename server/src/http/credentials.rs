//! The `Authorization` header, read as RFC 9110 section 11.6.2 and RFC 6750 section 2.1 say.
//!
//! Nothing here knows which tokens are accepted. Of the header's value, only the parsed token may
//! leave this module.

use http::{HeaderMap, header::AUTHORIZATION};

use crate::token::Token;

/// Why a request carries no token.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoToken {
    /// No bearer token was sent: no header, or another scheme's.
    #[error("a bearer token is required: send `Authorization: Bearer <ACCESS_TOKEN>`")]
    Absent,
    /// What was sent as a bearer token is not one.
    #[error("the bearer token is malformed: send `Authorization: Bearer <ACCESS_TOKEN>` once")]
    Malformed,
}

/// The token of a request.
///
/// # Errors
///
/// [`NoToken::Absent`] without bearer credentials; [`NoToken::Malformed`] for a repeated header,
/// or if anything but one token of this service follows `Bearer`.
pub fn bearer_token(headers: &HeaderMap) -> Result<Token, NoToken> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let value = values.next().ok_or(NoToken::Absent)?;
    if values.next().is_some() {
        return Err(NoToken::Malformed);
    }
    let value = value.to_str().map_err(|_| NoToken::Malformed)?;
    let (scheme, credentials) = value.split_once(' ').unwrap_or((value, ""));
    if !scheme.eq_ignore_ascii_case("Bearer") {
        return Err(NoToken::Absent);
    }
    // 1*SP between the two.
    Token::parse(credentials.trim_start_matches(' ')).map_err(|_| NoToken::Malformed)
}

#[cfg(test)]
mod tests;
