//! The reasons for refusing a request: one type, from the step that refuses the request to the code
//! that answers, counts and logs the refusal.
//!
//! The message is for the client and must not contain internal details. The cause of a fault goes
//! to the log.

use std::borrow::Cow;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use http::HeaderValue;
use plant_store_api::error_code::ErrorCode;
use plant_store_store::WriteError;

use crate::names::{REALM, TOKEN_PREFIX};

/// The error of a failed store.
type Cause = Arc<dyn Error + Send + Sync>;

/// The reason for refusing a request. `Display` is the `message` of the `Error` body.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The body does not match the document. The message may repeat a value of the body, so the log
    /// only contains the place.
    #[error("{message}")]
    Body { message: String, place: String },
    /// The framing of the body is broken: a chunk is malformed, or the client disconnected.
    #[error("the body is incomplete: it ended early, or one of its chunks is malformed")]
    BrokenBody,
    /// No bearer token was sent: the header is missing or has another scheme.
    #[error("a bearer token is required: send `Authorization: Bearer <ACCESS_TOKEN>`")]
    NoToken,
    /// `Authorization` does not match RFC 6750, or occurs twice.
    #[error("the bearer token is malformed: send `Authorization: Bearer <ACCESS_TOKEN>` once")]
    MalformedCredentials,
    /// The bearer token is not a token of this service: its format or its checksum is wrong.
    #[error(
        "the bearer token is truncated or mistyped: a token is `{TOKEN_PREFIX}` followed by 38 \
         letters and digits; send it exactly as it was issued"
    )]
    MalformedToken,
    /// The token is well-formed, but the store does not contain it: it is unknown or was revoked.
    /// The message does not tell these cases apart, nor an expired token.
    #[error("the bearer token is unknown, expired or revoked: ask the operator for a new one")]
    TokenNotAccepted,
    /// The token has expired. The client gets the message of `TokenNotAccepted`, and the log says
    /// that the token has expired.
    #[error("{}", Self::TokenNotAccepted)]
    TokenExpired,
    /// The lease on the tokens has expired, and they could not be read again.
    #[error("the service cannot check tokens now: send the same request again in a moment")]
    TokensUnavailable,
    #[error("the body did not arrive within {}", humantime::format_duration(*.0))]
    BodyTimeout(Duration),
    #[error("plant {id} already exists and is different: choose another id")]
    Conflict { id: i64 },
    #[error("the body is larger than {limit} bytes")]
    BodyTooLarge { limit: usize },
    #[error("the body must be sent as `Content-Type: application/json`")]
    NotJsonMediaType,
    /// The body has a content coding (RFC 9110, section 8.4). This service decodes none.
    #[error("the body must be sent without a `Content-Encoding`")]
    ContentCoding,
    /// No permit is free. The cause is for the log.
    #[error("the service is at its limit: send the same request again in a moment")]
    NoPermit { cause: &'static str },
    /// The store failed. The cause is for the log.
    #[error("the service failed: the operator can find the cause in the log by the request id")]
    Fault(Cause),
    /// The store did not answer in time, so the change may or may not be stored. Sending the same
    /// request again tells. The cause is for the log.
    #[error("the store does not respond: send the same request again in a moment")]
    StoreUnavailable(Cause),
}

impl From<Arc<WriteError>> for Refusal {
    fn from(cause: Arc<WriteError>) -> Self {
        if cause.may_pass() { Self::StoreUnavailable(cause) } else { Self::Fault(cause) }
    }
}

impl Refusal {
    /// Returns the value of `Error.error`.
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
            Self::Fault(_) => ErrorCode::InternalServerError,
            Self::NoPermit { .. } | Self::TokensUnavailable | Self::StoreUnavailable(_) => {
                ErrorCode::ServiceUnavailable
            }
        }
    }

    /// Returns the `WWW-Authenticate` header of a 401. It has no `error` attribute if the request
    /// contained no token (RFC 6750, section 3.1).
    pub fn challenge(&self) -> Option<HeaderValue> {
        let code = match self {
            Self::NoToken => "",
            _ if self.code() == ErrorCode::Unauthorized => r#", error="invalid_token""#,
            _ => return None,
        };
        let challenge = format!(r#"Bearer realm="{REALM}"{code}"#);
        Some(challenge.try_into().expect("the realm is ASCII"))
    }

    /// Returns the cause for the log, if the code alone does not tell it: the cause of a fault,
    /// which the client must not see, or the place in the body that was refused, in case its sender
    /// asks. The cause never repeats a value of the body.
    pub fn cause(&self) -> Option<Cow<'static, str>> {
        match self {
            Self::Body { place, .. } => Some(format!("the body is refused at {place}").into()),
            Self::BrokenBody => Some("the body is incomplete".into()),
            Self::Fault(cause) | Self::StoreUnavailable(cause) => Some(cause.to_string().into()),
            Self::NoPermit { cause } => Some((*cause).into()),
            Self::TokensUnavailable => Some("the tokens are unavailable".into()),
            Self::TokenExpired => Some("the token has expired".into()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use plant_store_api::types::NewPlant;

    use super::*;
    use crate::http::json;

    /// The published document contains an example message for each value of `error`. Only a proxy
    /// answers with 429.
    #[test]
    fn examples_in_the_document_are_messages_of_the_service() {
        let body = json::parse::<NewPlant>(br#"{"id":1}"#);
        let refusals = [
            body.err().expect("no name"),
            Refusal::TokenNotAccepted,
            Refusal::BodyTimeout(Duration::from_secs(10)),
            Refusal::Conflict { id: 1 },
            Refusal::BodyTooLarge { limit: 64 * 1024 },
            Refusal::NotJsonMediaType,
            Refusal::Fault(Arc::new(WriteError::Unavailable("a disk".into()))),
            Refusal::NoPermit { cause: "others" },
        ];
        let is_ours = |code: &&ErrorCode| **code != ErrorCode::TooManyRequests;
        for code in ErrorCode::ALL.iter().filter(is_ours) {
            let messages = refusals.iter().filter(|refusal| refusal.code() == *code);
            let messages: Vec<_> = messages.map(ToString::to_string).collect();
            assert_eq!(messages, [code.example()], "{code:?}");
        }
    }
}
