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
mod tests {
    use http::HeaderValue;

    use super::*;

    fn token_of(values: &[&[u8]]) -> Result<Token, NoToken> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(AUTHORIZATION, HeaderValue::from_bytes(value).expect("a header value"));
        }
        bearer_token(&headers)
    }

    #[test]
    fn bearer_scheme_is_case_insensitive_and_spaces_may_follow() {
        let token = Token::issue();
        for scheme in ["Bearer ", "bearer ", "BEARER   "] {
            let value = format!("{scheme}{}", token.reveal());
            let found = token_of(&[value.as_bytes()]).expect("a token");
            assert_eq!(found.digest(), token.digest());
        }
    }

    #[test]
    fn other_scheme_is_absent_and_bad_token_is_malformed() {
        let token = Token::issue();
        let good = format!("Bearer {}", token.reveal());
        let absent: [&[&[u8]]; 5] =
            [&[], &[b""], &[b"Basic YTpi"], &[b"Bearerpst_x"], &[token.reveal().as_bytes()]];
        for values in absent {
            assert_eq!(token_of(values).unwrap_err(), NoToken::Absent, "{values:?}");
        }
        let two = format!("{good} more");
        let malformed: [&[&[u8]]; 6] = [
            &[b"Bearer"],
            &[b"Bearer "],
            &[b"Bearer pst_short"],
            &[b"Bearer \xff\xfe"],
            &[good.as_bytes(), good.as_bytes()],
            &[two.as_bytes()],
        ];
        for values in malformed {
            assert_eq!(token_of(values).unwrap_err(), NoToken::Malformed, "{values:?}");
        }
        // A tab is not a space: the whole value is the name of an unknown scheme.
        let tab = format!("Bearer\t{}", token.reveal());
        assert_eq!(token_of(&[tab.as_bytes()]).unwrap_err(), NoToken::Absent);
    }
}
