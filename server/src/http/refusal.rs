//! Why a request of an operation is refused: one type, from where it is made to where it is
//! answered, counted and recorded.
//!
//! A message is for the client and must hold nothing internal: the cause of a fault goes to the
//! log.

use std::borrow::Cow;
use std::error::Error;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use http::HeaderValue;
use plant_store_api::error_code::ErrorCode;
use plant_store_store::WriteError;

use crate::names::{REALM, TOKEN_PREFIX};

/// Why the store failed.
type Cause = Arc<dyn Error + Send + Sync>;

/// A refused request. `Display` is the message of its `Error` body.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The body is not what the document describes. The message may repeat a value of it, so the
    /// log has only the place.
    #[error("{message}")]
    Body { message: String, place: String },
    /// The framing of the body broke: a bad chunk, or the client went away.
    #[error("the body broke off: it ended early, or a chunk of it is malformed")]
    BrokenBody,
    /// No bearer token was sent: no header, or another scheme's.
    #[error("a bearer token is required: send `Authorization: Bearer <ACCESS_TOKEN>`")]
    NoToken,
    /// `Authorization` is not what RFC 6750 describes, or is there twice.
    #[error("the bearer token is malformed: send `Authorization: Bearer <ACCESS_TOKEN>` once")]
    MalformedCredentials,
    /// What was sent as a bearer token is not one: it has another form, or its checksum does not
    /// hold.
    #[error(
        "the bearer token is cut or mistyped: it is `{TOKEN_PREFIX}` and 38 letters and digits; \
         send it as it was issued"
    )]
    MalformedToken,
    /// A well-formed token that the store does not have: it is unknown or revoked. The client is
    /// not told which, nor whether it has expired.
    #[error("the bearer token is unknown, expired or revoked: ask the operator for a new one")]
    TokenNotAccepted,
    /// The client gets the message of `TokenNotAccepted`. The log says that it has expired.
    #[error("{}", Self::TokenNotAccepted)]
    TokenExpired,
    /// The last reading of the tokens is too old to be used.
    #[error("the service cannot check tokens now: send the request again in a moment, as it is")]
    TokensNotRead,
    #[error("the body did not arrive within {}", humantime::format_duration(*.0))]
    BodyTimeout(Duration),
    #[error("plant {id} exists and is a different one: choose another id")]
    Conflict { id: i64 },
    #[error("the body is larger than {limit} bytes")]
    BodyTooLarge { limit: usize },
    #[error("the body must be sent as `Content-Type: application/json`")]
    NotJsonMediaType,
    /// RFC 9110, section 8.4: a coding that this service does not undo.
    #[error("the body must be sent without a `Content-Encoding`")]
    ContentCoding,
    #[error(
        "the token may send {limit} creates per second: send the request again in a moment, as it \
         is"
    )]
    TooManyRequests { limit: NonZeroU32 },
    /// No permit is free. The cause is for the log.
    #[error("the service is at its limit: send the request again in a moment, as it is")]
    NoPermit { cause: &'static str },
    /// The store failed. The cause is for the log.
    #[error("the service failed; the operator finds the cause in the log by the request id")]
    Fault(Cause),
    /// What the request changes may be in the store or not; the same request, sent again, tells.
    /// The cause is for the log.
    #[error("the store does not answer now: send the request again in a moment, as it is")]
    StoreUnavailable(Cause),
}

impl From<Arc<WriteError>> for Refusal {
    fn from(cause: Arc<WriteError>) -> Self {
        if cause.may_pass() { Self::StoreUnavailable(cause) } else { Self::Fault(cause) }
    }
}

impl Refusal {
    /// The value of `Error.error`.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Body { .. } | Self::BrokenBody => ErrorCode::BadRequest,
            Self::NoToken
            | Self::MalformedCredentials
            | Self::MalformedToken
            | Self::TokenNotAccepted
            | Self::TokenExpired => ErrorCode::Unauthorized,
            Self::BodyTimeout(_) => ErrorCode::RequestTimeout,
            Self::Conflict { .. } => ErrorCode::Conflict,
            Self::BodyTooLarge { .. } => ErrorCode::ContentTooLarge,
            Self::NotJsonMediaType | Self::ContentCoding => ErrorCode::UnsupportedMediaType,
            Self::TooManyRequests { .. } => ErrorCode::TooManyRequests,
            Self::Fault(_) => ErrorCode::InternalServerError,
            Self::NoPermit { .. } | Self::TokensNotRead | Self::StoreUnavailable(_) => {
                ErrorCode::ServiceUnavailable
            }
        }
    }

    /// `WWW-Authenticate` of the answer: without an `error` code if no token was given (RFC 6750,
    /// section 3.1).
    pub fn challenge(&self) -> Option<HeaderValue> {
        let code = match self {
            Self::NoToken => "",
            _ if self.code() == ErrorCode::Unauthorized => r#", error="invalid_token""#,
            _ => return None,
        };
        let challenge = format!(r#"Bearer realm="{REALM}"{code}"#);
        Some(challenge.try_into().expect("the realm is ASCII"))
    }

    /// Why, for the log: the cause of a fault, which the client must not know, and the place of a
    /// mistake in a body, of which its sender may ask. No value of the body is repeated.
    pub fn cause(&self) -> Option<Cow<'static, str>> {
        match self {
            Self::Body { place, .. } => Some(format!("the body is refused at {place}").into()),
            Self::BrokenBody => Some("the body broke off".into()),
            Self::Fault(cause) | Self::StoreUnavailable(cause) => Some(cause.to_string().into()),
            Self::NoPermit { cause } => Some((*cause).into()),
            Self::TokensNotRead => Some("the tokens cannot be read".into()),
            Self::TokenExpired => Some("the token has expired".into()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
