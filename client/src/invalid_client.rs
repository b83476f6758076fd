//! Why a client cannot be made.

use std::error::Error as StdError;
use std::fmt::{self, Debug, Formatter};

use crate::causes::with_causes;

/// Why a client cannot be made. No variant shows the token.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum InvalidClient {
    /// The base URL is none, or has a scheme that this client does not speak.
    #[error("the base URL {url:?} cannot be used: {reason}")]
    Url {
        /// The base URL.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// What should be the certificate of an authority holds none in PEM.
    #[error(
        "no certificate in PEM: give that of the authority, which begins with \
         -----BEGIN CERTIFICATE-----"
    )]
    Authority,
    /// The token is empty, or holds what no token does, such as a space or a line break.
    #[error(
        "the token is empty, or holds a space, a line break or a letter that is not ASCII: copy it \
         again, and nothing else"
    )]
    Token,
    /// The provider of the token has failed.
    #[error("no token can be had")]
    Provider(#[source] Box<dyn StdError + Send + Sync>),
    /// The HTTP client cannot start.
    #[error("the HTTP client cannot start")]
    Http(#[source] reqwest::Error),
}

/// The text with its causes: it is what a `main` prints that returns the error.
impl Debug for InvalidClient {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("InvalidClient").field(&with_causes(self)).finish()
    }
}
