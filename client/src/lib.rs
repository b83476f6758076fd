#![doc = include_str!("../README.md")]
//!
//! In `src`, `cargo xtask generate` writes `generated.rs`, `mock.rs` and `cli/generated.rs`. The
//! rest is written by hand.

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

use reqwest::ClientBuilder;

pub use generated::{Client, ClientInfo, Error, ResponseValue, builder, types};
pub use groundwork_client::{
    ExponentialBuilder, Failure, GeneratedClient, InvalidClient, Refusal, SendPolicy, StatusCode,
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
/// the program runs, and must not block for long.
pub fn client_with(
    settings: ClientBuilder,
    base_url: &str,
    token: impl Fn() -> String + Send + Sync + 'static,
) -> Result<Client, InvalidClient> {
    groundwork_client::client_with(settings, base_url, token)
}
