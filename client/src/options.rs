//! How a client reaches the service: the base URL, TLS, the timeouts, the token.

use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderMap};
use reqwest::redirect::Policy;
use reqwest::{ClientBuilder, Url};

use crate::invalid_client::InvalidClient;
use crate::proxy::is_loopback;
use crate::token::authorization;
use crate::{Client, SendPolicy};

/// How a client reaches the service. Start with [`ClientOptions::new`], and change the fields that
/// should differ from the defaults.
///
/// The client uses the proxies in the environment (`http_proxy`, `https_proxy`, `all_proxy`), but
/// not for the hosts in `no_proxy` and not for a service on the loopback interface.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ClientOptions {
    /// The URL of the service, `{base_url}` in the contract, such as `https://plants.example.org`.
    /// The client appends the path of the operation.
    pub base_url: String,
    /// For `https`: the certificates of the only authorities to trust, in PEM. By default the
    /// client trusts the system's authorities.
    pub authorities: Option<Vec<u8>>,
    /// How long a connection may take to open, including the TLS handshake. By default 5 seconds.
    pub connect_timeout: Duration,
    /// How long a request may take, from its first byte to the last byte of the response. By
    /// default 30 seconds, because the service waits up to 10 seconds for a body by default. The
    /// token provider of a [`RetryingClient`](crate::RetryingClient) has the same limit.
    pub timeout: Duration,
}

impl ClientOptions {
    /// Returns the default options for the service at this URL.
    #[must_use]
    pub fn new(base_url: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            authorities: None,
            connect_timeout: Duration::from_secs(5),
            timeout: Duration::from_secs(30),
        }
    }

    /// Builds a client that sends this bearer token with every request, and sends each request
    /// once. The token is marked as sensitive, so no `Debug` output shows it. The client does not
    /// follow redirects, because the contract has none.
    pub fn client(&self, token: &str) -> Result<Client, InvalidClient> {
        self.client_with(HeaderMap::from_iter([(AUTHORIZATION, authorization(token)?)]))
    }

    /// Builds a client that adds no token to its requests.
    pub(crate) fn client_without_token(&self) -> Result<Client, InvalidClient> {
        self.client_with(HeaderMap::new())
    }

    fn client_with(&self, headers: HeaderMap) -> Result<Client, InvalidClient> {
        let url = self.url()?;
        let builder = reqwest::Client::builder()
            .connect_timeout(self.connect_timeout)
            .timeout(self.timeout)
            .redirect(Policy::none())
            .default_headers(headers);
        let builder = if is_loopback(&url) { builder.no_proxy() } else { builder };
        let http = self.trusting(builder, &url)?.build().map_err(InvalidClient::Http)?;
        Ok(Client::new_with_client(url.as_str().trim_end_matches('/'), http, SendPolicy::default()))
    }

    /// Trusts the authorities in the options, or the system's authorities. For `http` the system's
    /// authorities are not read, because a machine may have none.
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

    /// Does nothing: without TLS there is nothing to trust.
    #[cfg(not(feature = "rustls-no-provider"))]
    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "the signature is the same as with TLS"
    )]
    fn trusting(&self, builder: ClientBuilder, _: &Url) -> Result<ClientBuilder, InvalidClient> {
        Ok(builder)
    }

    fn url(&self) -> Result<Url, InvalidClient> {
        let invalid = |reason| InvalidClient::Url { url: self.base_url.clone(), reason };
        let url = Url::parse(&self.base_url).map_err(|error| {
            let has_scheme = self.base_url.contains("://");
            invalid(if has_scheme { error.to_string() } else { NO_SCHEME.to_owned() })
        })?;
        let extra = url.password().or(url.query()).or(url.fragment());
        if extra.is_some() || !url.username().is_empty() {
            return Err(invalid("a base URL must have no user, query or fragment".to_owned()));
        }
        let reason = match url.scheme() {
            "https" if !cfg!(feature = "rustls-no-provider") => {
                "https needs the feature rustls or rustls-no-provider of plant-store-client"
            }
            "http" | "https" => return Ok(url),
            _ => NO_SCHEME,
        };
        Err(invalid(reason.to_owned()))
    }
}

const NO_SCHEME: &str = "it begins with neither http:// nor https://";

/// Builds a client with this token and the default [`ClientOptions`].
///
/// `base_url` is the URL of the service, `{base_url}` in the contract, such as
/// `http://127.0.0.1:8080`.
pub fn client_with_token(
    base_url: impl Into<String>,
    token: &str,
) -> Result<Client, InvalidClient> {
    ClientOptions::new(base_url).client(token)
}
