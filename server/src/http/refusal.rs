//! Why a request of the operation is refused.
//!
//! A message is for the client and must hold nothing internal: the cause of a fault goes to the
//! log.

use std::borrow::Cow;
use std::error::Error;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use plant_store_api::error_code::ErrorCode;

use crate::http::permits::NoPermit;
use crate::http::strict::SchemaError;

/// Why the store failed: a commit, or whatever else an operation asks of it.
type Cause = Arc<dyn Error + Send + Sync>;

/// A refused request. `Display` is the message of its `Error` body.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The body is not what the document describes.
    #[error(transparent)]
    Body(#[from] SchemaError),
    /// RFC 9112, section 3.2.
    #[error("the request must have one `Host` header, which names a host")]
    Host,
    /// RFC 9112, section 6.1.
    #[error("the body must be sent without a `Transfer-Encoding`, or as `chunked`")]
    TransferCoding,
    /// The framing of the body broke: a bad chunk, or the client went away.
    #[error("the body broke off: send the whole request again")]
    BrokenBody,
    /// No bearer token was sent: no header, or another scheme's.
    #[error("a bearer token is required: send `Authorization: Bearer <ACCESS_TOKEN>`")]
    NoToken,
    /// `Authorization` is not what RFC 6750 describes, or is there twice.
    #[error("the bearer token is malformed: send `Authorization: Bearer <ACCESS_TOKEN>` once")]
    MalformedCredentials,
    /// What was sent as a bearer token is not one: its checksum does not hold.
    #[error("the bearer token is cut or mistyped: send it as it was issued")]
    MalformedToken,
    /// A well-formed token that the store does not have: it is unknown or revoked. The client is
    /// not told which, nor whether it has expired.
    #[error("the bearer token is unknown, expired or revoked: ask the operator for a new one")]
    TokenNotAccepted,
    /// The client gets the message of `TokenNotAccepted`. The log says that it has expired.
    #[error("{}", Self::TokenNotAccepted)]
    TokenExpired,
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
        "the token may send {limit} creates per second: send the plant again in a moment, as it is"
    )]
    TooManyCreates { limit: NonZeroU32 },
    /// The store failed. The cause is for the log.
    #[error("the service failed; the operator finds the cause in the log by the request id")]
    Fault(Cause),
    #[error("the service is at its limit: send the plant again in a moment, as it is")]
    NoPermit(#[from] NoPermit),
    #[error("the service cannot check tokens now: send the plant again in a moment, as it is")]
    TokensNotRead(#[from] TokensNotRead),
    /// The plant may be in the store or not; the same create, sent again, tells. The cause is for
    /// the log.
    #[error("the store does not take plants now: send the plant again in a moment, as it is")]
    StoreUnavailable(Cause),
}

/// The last reading of the tokens is too old to be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the tokens cannot be read")]
pub struct TokensNotRead;

impl Refusal {
    /// Whether the connection has to close: after a head that breaks RFC 9112 it is unclear where
    /// the next request begins.
    pub fn ends_connection(&self) -> bool {
        matches!(self, Self::Host | Self::TransferCoding)
    }

    /// Why, for the log: the cause of a fault, which the client must not know, and what is wrong
    /// with a request, which its sender may ask about. What the sender wrote is not repeated.
    pub fn cause(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Fault(cause) | Self::StoreUnavailable(cause) => Some(cause.to_string().into()),
            Self::NoPermit(cause) => Some(cause.to_string().into()),
            Self::TokensNotRead(cause) => Some(cause.to_string().into()),
            Self::TokenExpired => Some("the token has expired".into()),
            Self::Body(SchemaError::Repeated(_)) => Some("a member is given twice".into()),
            _ if self.code() == ErrorCode::BadRequest => Some(self.to_string().into()),
            _ => None,
        }
    }

    /// The value of `Error.error`.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Body(_) | Self::Host | Self::TransferCoding | Self::BrokenBody => {
                ErrorCode::BadRequest
            }
            Self::NoToken
            | Self::MalformedCredentials
            | Self::MalformedToken
            | Self::TokenNotAccepted
            | Self::TokenExpired => ErrorCode::Unauthorized,
            Self::BodyTimeout(_) => ErrorCode::RequestTimeout,
            Self::Conflict { .. } => ErrorCode::Conflict,
            Self::BodyTooLarge { .. } => ErrorCode::ContentTooLarge,
            Self::NotJsonMediaType | Self::ContentCoding => ErrorCode::UnsupportedMediaType,
            Self::TooManyCreates { .. } => ErrorCode::TooManyRequests,
            Self::Fault(_) => ErrorCode::InternalServerError,
            Self::NoPermit(_) | Self::TokensNotRead(_) | Self::StoreUnavailable(_) => {
                ErrorCode::ServiceUnavailable
            }
        }
    }
}
