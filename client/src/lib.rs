#![doc = include_str!("../README.md")]
//!
//! In `src`, progenitor generates `generated.rs`, `mock.rs` and `cli/generated.rs`, and `cargo
//! xtask generate` writes the lines between the markers in `error_code.rs`. The rest is written by
//! hand.

mod causes;
// Only the program uses this module. It is not part of the library's interface.
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
#[rustfmt::skip]
mod error_code;
mod exchange;
mod failure;
#[rustfmt::skip]
mod generated;
mod hooks;
#[rustfmt::skip]
mod idempotent;
mod invalid_client;

/// Typed mocks of the service for its consumers' tests, as extensions of
/// [`httpmock`](https://docs.rs/httpmock).
#[cfg(feature = "mock")]
#[rustfmt::skip]
pub mod mock;
mod options;
mod proxy;
mod retrier;
mod retry;
mod token;

pub use backon::ExponentialBuilder;
pub use error_code::ErrorCode;
pub use failure::Failure;
pub use generated::{Client, ClientInfo, Error, ResponseValue, builder, types};
pub use hooks::SendPolicy;
pub use invalid_client::InvalidClient;
pub use options::{ClientOptions, client_with_token};
pub use retry::{RetryingClient, retry_policy};
pub use token::TokenResult;
