//! A refused request: what the client gets to know, and what the log says.

use std::borrow::Cow;
use std::sync::Arc;

use plant_store_api::error_code::ErrorCode;
use plant_store_store::WriteError;

type Text = Cow<'static, str>;

/// The reason for refusing a request.
#[derive(Debug)]
pub struct Refusal {
    /// The value of `Error.error`.
    pub code: ErrorCode,
    /// The `message` of the `Error` body. It must not contain internal details.
    pub message: Text,
    /// What the log says, if the code alone does not tell it: the cause of a fault, or the place in
    /// the body that was refused, in case its sender asks. It never repeats a value of the body.
    pub cause: Option<Text>,
    /// Whether the request contained no token. Then the challenge has no `error` attribute (RFC
    /// 6750, section 3.1).
    pub lacks_token: bool,
}

impl Refusal {
    /// Creates a refusal with this message for the client.
    pub fn new(code: ErrorCode, message: impl Into<Text>) -> Self {
        Self { code, message: message.into(), cause: None, lacks_token: false }
    }

    /// Adds a cause for the log.
    pub fn because(self, cause: impl Into<Text>) -> Self {
        Self { cause: Some(cause.into()), ..self }
    }
}

/// A refusal with the message that the document shows as the example of the code.
impl From<ErrorCode> for Refusal {
    fn from(code: ErrorCode) -> Self {
        Self::new(code, code.example())
    }
}

/// After 503 the row may be stored or not. Sending the same request again tells.
impl From<Arc<WriteError>> for Refusal {
    fn from(cause: Arc<WriteError>) -> Self {
        let refusal = if cause.may_pass() {
            let message = "the store does not respond: send the same request again in a moment";
            Self::new(ErrorCode::ServiceUnavailable, message)
        } else {
            ErrorCode::InternalServerError.into()
        };
        refusal.because(cause.to_string())
    }
}
