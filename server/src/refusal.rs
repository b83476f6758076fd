//! Every way in which a request is refused: its `error` value and its words.
//!
//! The words are for the client. Nothing internal may stand in them: a fault's cause goes to the
//! log, where it happened.

use std::time::Duration;

use http::StatusCode;

use crate::credentials::NoToken;
use crate::new_plant::NotANewPlant;

/// A refused request. `Display` is the message of its `Error` body.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The body is not a NewPlant.
    #[error(transparent)]
    NotANewPlant(#[from] NotANewPlant),
    /// The framing of the body broke: a bad chunk, or the client went away.
    #[error("the body broke off: send the request again, whole")]
    BrokenBody,
    /// No usable bearer token came with the request.
    #[error(transparent)]
    NoToken(#[from] NoToken),
    /// A well-formed token that the store does not accept. Which of the three it is stays here.
    #[error("the bearer token is unknown, expired or revoked: ask the operator for a new one")]
    TokenNotAccepted,
    /// The body took too long.
    #[error("the body did not arrive within {}", humantime::format_duration(*.0))]
    BodyTimeout(Duration),
    /// First write wins: the stored plant stays as it is.
    #[error("plant {id} exists and is a different one: choose another id")]
    Conflict {
        /// The id that is taken.
        id: i64,
    },
    /// The body is larger than the limit, in bytes.
    #[error("the body is larger than {limit} bytes")]
    BodyTooLarge {
        /// The limit, in bytes.
        limit: usize,
    },
    /// No `Content-Type`, or not the one of the contract.
    #[error("the body must be sent as `Content-Type: application/json`")]
    NotJsonMediaType,
    /// RFC 9110, section 8.4: a coding that this service does not undo.
    #[error("the body must be sent without a `Content-Encoding`")]
    ContentCoding,
    /// A fault of the service or of its store. The cause is in the log.
    #[error("the service failed; the operator finds the cause in the log by the request id")]
    Fault,
    /// As many creates wait as may wait.
    #[error("the service is at its limit: send the plant again in a moment, as it is")]
    Overload,
    /// The store does not take writes at the moment.
    #[error("the store cannot be reached: send the plant again in a moment, as it is")]
    StoreUnavailable,
}

impl Refusal {
    /// Every value of [`Refusal::error`].
    pub const ERRORS: [StatusCode; 8] = [
        StatusCode::BAD_REQUEST,
        StatusCode::UNAUTHORIZED,
        StatusCode::REQUEST_TIMEOUT,
        StatusCode::CONFLICT,
        StatusCode::PAYLOAD_TOO_LARGE,
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        StatusCode::INTERNAL_SERVER_ERROR,
        StatusCode::SERVICE_UNAVAILABLE,
    ];

    /// The HTTP status code that names the failure (RFC 9110, section 15): `Error.error`.
    #[must_use]
    pub fn error(&self) -> StatusCode {
        match self {
            Self::NotANewPlant(_) | Self::BrokenBody => StatusCode::BAD_REQUEST,
            Self::NoToken(_) | Self::TokenNotAccepted => StatusCode::UNAUTHORIZED,
            Self::BodyTimeout(_) => StatusCode::REQUEST_TIMEOUT,
            Self::Conflict { .. } => StatusCode::CONFLICT,
            Self::BodyTooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::NotJsonMediaType | Self::ContentCoding => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Fault => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Overload | Self::StoreUnavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}
