//! The error of building a client.

use std::error::Error as StdError;
use std::fmt::{self, Debug, Formatter};

use crate::causes::with_causes;

/// Why a client cannot be built. No variant shows the token.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum InvalidClient {
    /// The base URL is not a URL, or has a scheme that this client does not support.
    #[error("the base URL {url:?} cannot be used: {reason}")]
    Url {
        /// The base URL.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The certificates of the authorities contain no certificate in PEM.
    #[error(
        "no certificate in PEM: pass the certificate of the authority, which begins with \
         -----BEGIN CERTIFICATE-----"
    )]
    Authority,
    /// The token is empty, or contains a character that no token has, such as a space or a line
    /// break.
    #[error(
        "the token is empty, or contains a space, a line break or a character that is not ASCII: \
         copy the token again, and nothing else"
    )]
    Token,
    /// The token provider failed.
    #[error("cannot get a token")]
    Provider(#[source] Box<dyn StdError + Send + Sync>),
    /// The HTTP client cannot start.
    #[error("the HTTP client cannot start")]
    Http(#[source] reqwest::Error),
}

/// Shows the message with its causes: a `main` that returns the error prints it.
impl Debug for InvalidClient {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("InvalidClient").field(&with_causes(self)).finish()
    }
}
