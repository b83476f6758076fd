//! How a client reaches the service: the base URL, TLS, the time-outs, the token.

use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderMap};
use reqwest::redirect::Policy;
use reqwest::{ClientBuilder, Url};

use crate::invalid_client::InvalidClient;
use crate::proxy::is_loopback;
use crate::token::authorization;
use crate::{Client, Sending};

/// How a client reaches the service. Make it with [`ClientOptions::new`], and set what is to
/// differ.
///
/// The client uses the proxies of the environment (`http_proxy`, `https_proxy`, `all_proxy`; not
/// for the hosts of `no_proxy`), except for a service on this machine's loopback.
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
        let builder = if is_loopback(&url) { builder.no_proxy() } else { builder };
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
