#![doc = include_str!("../README.md")]
//!
//! [`Client`] and [`types`] are generated (`src/generated.rs`); this file is the hand-written part.

#[allow(
    missing_docs,
    unused_imports,
    clippy::pedantic,
    clippy::unwrap_used,
    reason = "generated: the generator decides how it reads"
)]
#[rustfmt::skip]
mod generated;

use std::time::Duration;

use reqwest::StatusCode;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};

pub use generated::{Client, ClientInfo, Error, ResponseValue, builder, types};

/// How long a connection may take to open.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a whole request may take. By default the service waits for a body for 10 seconds.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Why a client cannot be made.
#[derive(Debug)]
pub enum InvalidClient {
    /// The token holds characters that a header value cannot hold. The error does not show it.
    Token,
    /// The HTTP client cannot start.
    Http(reqwest::Error),
}

impl std::fmt::Display for InvalidClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Token => f.write_str("the token holds characters that no header takes"),
            Self::Http(error) => write!(f, "the HTTP client cannot start: {error}"),
        }
    }
}

impl std::error::Error for InvalidClient {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Token => None,
            Self::Http(error) => Some(error),
        }
    }
}

/// A client that sends this bearer token with every request. The token is marked sensitive, so no
/// `Debug` output shows it.
///
/// A connection has 5 seconds to open, and a request 30 seconds to complete. For other times, build
/// a [`reqwest::Client`] and hand it to [`Client::new_with_client`].
///
/// `base_url` is where the service is: `http://127.0.0.1:8080`.
pub fn client_with_token(base_url: &str, token: &str) -> Result<Client, InvalidClient> {
    let mut authorization =
        HeaderValue::try_from(format!("Bearer {token}")).map_err(|_| InvalidClient::Token)?;
    authorization.set_sensitive(true);
    let http = reqwest::Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .timeout(TIMEOUT)
        .default_headers(HeaderMap::from_iter([(AUTHORIZATION, authorization)]))
        .build()
        .map_err(InvalidClient::Http)?;
    Ok(Client::new_with_client(base_url.trim_end_matches('/'), http))
}

/// The `Error` body of a 400, if the service refused the request.
#[must_use]
pub fn refusal(error: &Error<types::Error>) -> Option<&types::Error> {
    match error {
        Error::ErrorResponse(response) => Some(response),
        _ => None,
    }
}

/// Whether sending the same plant again, as it is, may succeed.
///
/// A create is safe to repeat, also if the first attempt has stored the plant: the service answers
/// the same plant with 200 again. So repeat it, after a pause, if no answer came, if `error` is
/// 408, 500 or 503, or if a proxy on the way answered with a 5xx. Any other refusal would come
/// again.
#[must_use]
pub fn may_repeat(error: &Error<types::Error>) -> bool {
    const TEMPORARY: [StatusCode; 3] = [
        StatusCode::REQUEST_TIMEOUT,
        StatusCode::INTERNAL_SERVER_ERROR,
        StatusCode::SERVICE_UNAVAILABLE,
    ];
    match error {
        Error::ErrorResponse(refusal) => {
            TEMPORARY.iter().any(|status| i32::from(status.as_u16()) == refusal.error)
        }
        Error::UnexpectedResponse(response) => response.status().is_server_error(),
        Error::CommunicationError(_) | Error::ResponseBodyError(_) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_408_500_503_and_proxy_errors_may_be_repeated() {
        for (error, repeat) in [
            (400, false),
            (401, false),
            (408, true),
            (409, false),
            (413, false),
            (415, false),
            (500, true),
            (503, true),
        ] {
            let body = types::Error { error, message: String::new() };
            let refused = ResponseValue::new(body, StatusCode::BAD_REQUEST, HeaderMap::new());
            let refused = Error::ErrorResponse(refused);
            assert_eq!(refusal(&refused).map(|refusal| refusal.error), Some(error));
            assert_eq!(may_repeat(&refused), repeat, "{error}");
        }
        for (status, repeat) in [(401, false), (404, false), (502, true), (504, true)] {
            let mut response = http::Response::new("");
            *response.status_mut() = StatusCode::from_u16(status).expect("a status");
            assert_eq!(may_repeat(&Error::UnexpectedResponse(response.into())), repeat, "{status}");
        }
        assert!(!may_repeat(&Error::InvalidRequest(String::new())));
    }
}
