//! Builds a client from a URL and a token. No error shows either of them: a token may be given as
//! the URL by mistake, and a URL may contain a password.

use std::net::IpAddr;
use std::time::Duration;

use backon::ExponentialBuilder;
use reqwest::header::{ACCEPT_ENCODING, HeaderMap, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{ClientBuilder, Url};

use crate::retries::{SendPolicy, bearer};

/// A client that progenitor generated, with [`SendPolicy`] as its inner type.
pub trait GeneratedClient: Sized {
    /// The operations that the document marks with `x-idempotent`.
    const IDEMPOTENT: &'static [&'static str];

    /// Creates a client: the generated `new_with_client`.
    fn new(base_url: &str, http: reqwest::Client, policy: SendPolicy) -> Self;

    /// Returns the inner value of the client.
    fn policy(&mut self) -> &mut SendPolicy;

    /// Sends a request again, if the document allows it, after the pauses of this policy, or those
    /// that `Retry-After` asks for. To bound the time of a call, wrap it in `tokio::time::timeout`.
    #[must_use]
    fn with_retries(mut self, policy: ExponentialBuilder) -> Self {
        self.policy().retries = Some(policy);
        self
    }
}

/// Why a client cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidClient {
    /// The base URL is not the URL of a service.
    #[error("the base URL cannot be used: {0}")]
    Url(String),
    /// The token is empty, or contains a character that no token has.
    #[error(
        "the token is empty, or contains a space, a line break or a character that is not ASCII: \
         copy the token again, and nothing else"
    )]
    Token,
    /// The HTTP client cannot start.
    #[error("the HTTP client cannot start")]
    Http(#[source] reqwest::Error),
}

/// Builds a client that sends this bearer token, and sends each request once. `base_url` is the URL
/// of the service, without the path of an operation.
pub fn client<C: GeneratedClient>(base_url: &str, token: &str) -> Result<C, InvalidClient> {
    let token = token.to_owned();
    client_with(settings(), base_url, move || token.clone())
}

/// Builds a client with your own settings of TLS, proxies and timeouts: start with [`settings`].
///
/// `token` returns the bearer token. It is called for each attempt, so the token may change while
/// the program runs, and must not block for long.
pub fn client_with<C: GeneratedClient>(
    settings: ClientBuilder,
    base_url: &str,
    token: impl Fn() -> String + Send + Sync + 'static,
) -> Result<C, InvalidClient> {
    let url = parse(base_url).map_err(InvalidClient::Url)?;
    bearer(&token()).ok_or(InvalidClient::Token)?;
    // The client cannot decode a response that a proxy compresses.
    let identity = HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static("identity"))]);
    let settings = settings.redirect(Policy::none()).default_headers(identity);
    // A proxy cannot reach this machine, and would only get the token.
    let settings = if is_loopback(&url) { settings.no_proxy() } else { settings };
    let http = settings.build().map_err(InvalidClient::Http)?;
    Ok(C::new(url.as_str().trim_end_matches('/'), http, SendPolicy::new(token, C::IDEMPOTENT)))
}

/// Returns the default settings: 5 seconds to connect, and 30 seconds for a request.
pub fn settings() -> ClientBuilder {
    reqwest::Client::builder()
        .connect_timeout(Duration::from_secs(5))
        .timeout(Duration::from_secs(30))
}

fn parse(base_url: &str) -> Result<Url, String> {
    let url = Url::parse(base_url).map_err(|error| format!("{error}: write http://HOST:PORT"))?;
    let extra = url.password().or(url.query()).or(url.fragment());
    if extra.is_some() || !url.username().is_empty() {
        return Err("it must have no user, query or fragment".to_owned());
    }
    match url.scheme() {
        "https" if !cfg!(feature = "rustls-no-provider") => {
            Err("https needs the feature rustls or rustls-no-provider of the client".to_owned())
        }
        "http" | "https" => Ok(url),
        _ => Err("it begins with neither http:// nor https://".to_owned()),
    }
}

/// Returns whether the host of a URL is this machine.
fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.to_canonical().is_loopback())
}
