//! How a client reaches the service: the base URL, TLS, the time-outs, the token.

use std::error::Error as StdError;
use std::fmt::{self, Debug, Formatter};
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{ClientBuilder, Url};

use crate::causes::with_causes;
use crate::{Client, Sending};

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

/// How a client reaches the service. Make it with [`ClientOptions::new`], and set what is to
/// differ.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ClientOptions {
    /// Where the service is, which the contract calls `{base_url}`: `https://plants.example.org`.
    /// The path of an operation follows it.
    pub base_url: String,
    /// For `https`: the certificates of the authorities to trust, and no others, in PEM. By default
    /// those that the system trusts.
    pub authorities: Option<Vec<u8>>,
    /// How long a connection may take to open, TLS included. By default 5 seconds.
    pub connect_timeout: Duration,
    /// How long a request may take, from its first byte to the last byte of its answer. By default
    /// 30 seconds: by default the service waits for a body for 10 seconds. The provider of the
    /// token of a [`RetryingClient`](crate::RetryingClient) has as long.
    pub timeout: Duration,
}

impl ClientOptions {
    /// The defaults, for the service at this URL.
    #[must_use]
    pub fn new(base_url: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            authorities: None,
            connect_timeout: Duration::from_secs(5),
            timeout: Duration::from_secs(30),
        }
    }

    /// A client that sends this bearer token with every request, and each request once. The token
    /// is marked sensitive, so no `Debug` output shows it. A redirect is not followed: the contract
    /// has none.
    pub fn client(&self, token: &str) -> Result<Client, InvalidClient> {
        self.client_with(HeaderMap::from_iter([(AUTHORIZATION, authorization(token)?)]))
    }

    /// A client whose requests have no token yet.
    pub(crate) fn without_token(&self) -> Result<Client, InvalidClient> {
        self.client_with(HeaderMap::new())
    }

    fn client_with(&self, headers: HeaderMap) -> Result<Client, InvalidClient> {
        let url = self.url()?;
        let builder = reqwest::Client::builder()
            .connect_timeout(self.connect_timeout)
            .timeout(self.timeout)
            .redirect(Policy::none())
            .default_headers(headers);
        let http = self.trusting(builder, &url)?.build().map_err(InvalidClient::Http)?;
        Ok(Client::new_with_client(url.as_str().trim_end_matches('/'), http, Sending::default()))
    }

    /// Trusts the authorities of the options, or those of the system. Without TLS the system's are
    /// not read: a machine may have none.
    #[cfg(feature = "rustls-no-provider")]
    fn trusting(&self, builder: ClientBuilder, url: &Url) -> Result<ClientBuilder, InvalidClient> {
        match &self.authorities {
            Some(pem) => match reqwest::Certificate::from_pem_bundle(pem) {
                Ok(trusted) if !trusted.is_empty() => Ok(builder.tls_certs_only(trusted)),
                _ => Err(InvalidClient::Authority),
            },
            None if url.scheme() == "http" => Ok(builder.tls_certs_only([])),
            None => Ok(builder),
        }
    }

    /// Without TLS there is nothing to trust.
    #[cfg(not(feature = "rustls-no-provider"))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "as with TLS")]
    fn trusting(&self, builder: ClientBuilder, _: &Url) -> Result<ClientBuilder, InvalidClient> {
        Ok(builder)
    }

    fn url(&self) -> Result<Url, InvalidClient> {
        let invalid = |reason| InvalidClient::Url { url: self.base_url.clone(), reason };
        let url = Url::parse(&self.base_url).map_err(|error| {
            let has_scheme = self.base_url.contains("://");
            invalid(if has_scheme { error.to_string() } else { NO_SCHEME.to_owned() })
        })?;
        let beside = url.password().or(url.query()).or(url.fragment());
        if beside.is_some() || !url.username().is_empty() {
            return Err(invalid("a base URL has no user, no query and no fragment".to_owned()));
        }
        let reason = match url.scheme() {
            "https" if !cfg!(feature = "rustls-no-provider") => {
                "https needs the feature rustls or rustls-no-provider"
            }
            "http" | "https" => return Ok(url),
            _ => NO_SCHEME,
        };
        Err(invalid(reason.to_owned()))
    }
}

const NO_SCHEME: &str = "it begins with neither http:// nor https://";

/// The value of the header for a bearer token.
pub(crate) fn authorization(token: &str) -> Result<HeaderValue, InvalidClient> {
    let is_one_word = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
    let value = HeaderValue::try_from(format!("Bearer {token}"));
    let mut value = value.ok().filter(|_| is_one_word).ok_or(InvalidClient::Token)?;
    value.set_sensitive(true);
    Ok(value)
}

/// A client with this token and the defaults of [`ClientOptions`].
///
/// `base_url` is where the service is, which the contract calls `{base_url}`:
/// `http://127.0.0.1:8080`.
pub fn client_with_token(
    base_url: impl Into<String>,
    token: &str,
) -> Result<Client, InvalidClient> {
    ClientOptions::new(base_url).client(token)
}
