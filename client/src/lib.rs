#![doc = include_str!("../README.md")]
//!
//! In `src`, progenitor generates `generated.rs`, `mock.rs` and `cli/generated.rs`, and `cargo
//! xtask generate` writes the lines between the markers in this file. The rest is written by hand.

// Only the program uses this module. It is not part of the library's interface.
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
#[rustfmt::skip]
mod generated;
/// Typed mocks of the service for its consumers' tests, as extensions of
/// [`httpmock`](https://docs.rs/httpmock).
#[cfg(feature = "mock")]
#[rustfmt::skip]
pub mod mock;

use groundwork_client::{ClientHooks, OperationInfo};
use reqwest::{ClientBuilder, Request, Response};

pub use generated::{Client, ClientInfo, Error, ResponseValue, builder, types};
pub use groundwork_client::{
    ErrorCode, ExponentialBuilder, Failure, GeneratedClient, InvalidClient, Refusal, SendPolicy,
    reqwest, retry_policy, settings,
};

/// Builds a client that sends this bearer token, and sends each request once. `base_url` is
/// `{base_url}` in the contract, such as `http://127.0.0.1:8080`.
pub fn client(base_url: &str, token: &str) -> Result<Client, InvalidClient> {
    groundwork_client::client(base_url, token)
}

/// Builds a client with your own settings of TLS, proxies and timeouts: start with [`settings`].
///
/// `token` returns the bearer token. It is called for each attempt, so the token may change while
/// the program runs, and must not block.
pub fn client_with(
    settings: ClientBuilder,
    base_url: &str,
    token: impl Fn() -> String + Send + Sync + 'static,
) -> Result<Client, InvalidClient> {
    groundwork_client::client_with(settings, base_url, token)
}

impl GeneratedClient for Client {
    #[rustfmt::skip]
    const IDEMPOTENT: &'static [&'static str] = &[
        // idempotent: generated from the contract
        "create_plant",
        // end of idempotent
    ];

    fn new(base_url: &str, http: reqwest::Client, policy: SendPolicy) -> Self {
        Self::new_with_client(base_url, http, policy)
    }

    fn policy(&mut self) -> &mut SendPolicy {
        &mut self.inner
    }
}

impl ClientHooks<SendPolicy> for Client {
    async fn exec(&self, request: Request, info: &OperationInfo) -> reqwest::Result<Response> {
        self.inner.send(&self.client, request, info).await
    }
}
