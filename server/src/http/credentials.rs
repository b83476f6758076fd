//! The bearer token of a request (RFC 9110, section 11.6.2; RFC 6750, section 2.1).
//!
//! Of the value of `Authorization`, only the digest of the token may leave this module.

use http::HeaderMap;
use http::header::AUTHORIZATION;
use plant_store_store::token::TokenDigest;

use crate::http::field::Field;
use crate::http::refusal::Refusal;
use crate::token::Token;

/// The digest of the token that the request has.
pub fn token_digest(headers: &HeaderMap) -> Result<TokenDigest, Refusal> {
    let value = match Field::of(headers, &AUTHORIZATION) {
        Field::Absent => return Err(Refusal::NoToken),
        Field::Repeated => return Err(Refusal::MalformedCredentials),
        Field::Once(value) => value.to_str().map_err(|_| Refusal::MalformedCredentials)?,
    };
    let (scheme, credentials) = value.split_once(' ').unwrap_or((value, ""));
    if !scheme.eq_ignore_ascii_case("Bearer") {
        return Err(Refusal::NoToken);
    }
    // 1*SP between the two.
    let token = credentials.trim_start_matches(' ');
    if token.is_empty() {
        return Err(Refusal::MalformedCredentials);
    }
    Ok(Token::parse(token).ok_or(Refusal::MalformedToken)?.digest())
}

#[cfg(test)]
mod tests;
