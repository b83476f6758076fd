//! Every way in which a request is refused: its `error` value and its message.
//!
//! The message is for the client. It must hold nothing internal: the cause of a fault goes to the
//! log.

use std::borrow::Cow;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use crate::http::strict::NotANewPlant;
use plant_store_api::error_code::ErrorCode;

/// A refused request. `Display` is the message of its `Error` body.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    #[error(transparent)]
    NotANewPlant(#[from] NotANewPlant),
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
    /// What was sent as a bearer token is not one.
    #[error("the bearer token is malformed: send `Authorization: Bearer <ACCESS_TOKEN>` once")]
    MalformedToken,
    /// A well-formed token that is not accepted. It is unknown, expired or revoked; the client is
    /// not told which.
    #[error("the bearer token is unknown, expired or revoked: ask the operator for a new one")]
    TokenNotAccepted,
    /// For the log; the client is told the same.
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
        "the token may send {limit} creates a second: send the plant again in a moment, as it is"
    )]
    TooManyCreates { limit: NonZeroU32 },
    /// A fault of the service or of its store. Its cause is for the log.
    #[error("the service failed; the operator finds the cause in the log by the request id")]
    Fault { cause: Arc<str> },
    /// No place is free, or the token has its share of them.
    #[error("the service is at its limit: send the plant again in a moment, as it is")]
    Overload,
    /// The plant may be in the store or not; the same create, sent again, tells.
    #[error("the store cannot be reached: send the plant again in a moment, as it is")]
    StoreUnavailable,
}

impl Refusal {
    /// Whether the connection has to close: after a head that breaks RFC 9112 it is unclear where the
    /// next request begins.
    pub fn ends_connection(&self) -> bool {
        matches!(self, Self::Host | Self::TransferCoding)
    }

    /// Why, for the log: the cause of a fault, which the client must not know, and what is wrong
    /// with a body, which its sender may ask about. What the sender wrote is not repeated.
    pub fn cause(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Fault { cause } => Some(Cow::Borrowed(cause)),
            Self::NotANewPlant(NotANewPlant::Repeated(_)) => Some("a member is given twice".into()),
            Self::TokenExpired => Some("the token has expired".into()),
            Self::NotANewPlant(_) | Self::Host | Self::TransferCoding | Self::BrokenBody => {
                Some(self.to_string().into())
            }
            _ => None,
        }
    }

    /// The value of `Error.error`.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NotANewPlant(_) | Self::Host | Self::TransferCoding | Self::BrokenBody => {
                ErrorCode::BadRequest
            }
            Self::NoToken | Self::MalformedToken | Self::TokenNotAccepted | Self::TokenExpired => {
                ErrorCode::Unauthorized
            }
            Self::BodyTimeout(_) => ErrorCode::RequestTimeout,
            Self::Conflict { .. } => ErrorCode::Conflict,
            Self::BodyTooLarge { .. } => ErrorCode::ContentTooLarge,
            Self::NotJsonMediaType | Self::ContentCoding => ErrorCode::UnsupportedMediaType,
            Self::TooManyCreates { .. } => ErrorCode::TooManyRequests,
            Self::Fault { .. } => ErrorCode::InternalServerError,
            Self::Overload | Self::StoreUnavailable => ErrorCode::ServiceUnavailable,
        }
    }
}
