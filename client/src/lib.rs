#![doc = include_str!("../README.md")]
//!
//! In `src`, `generated.rs`, `mock.rs` and `cli/generated.rs` are progenitor's output, and the
//! lines between the markers in `error_code.rs` are generated. The rest is written by hand.

mod causes;
// The program is for its users. What it is made of is no interface of the library.
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
mod invalid_client;

/// Typed mocks of the service for the tests of its consumers, as extensions of
/// [`httpmock`](https://docs.rs/httpmock).
#[cfg(feature = "mock")]
#[rustfmt::skip]
pub mod mock;
mod options;
mod proxy;
mod repeats;
mod retry;
mod token;

pub use backon::ExponentialBuilder;
pub use error_code::ErrorCode;
pub use failure::Failure;
pub use generated::{Client, ClientInfo, Error, ResponseValue, builder, types};
pub use hooks::Sending;
pub use invalid_client::InvalidClient;
pub use options::{ClientOptions, client_with_token};
pub use retry::{RetryingClient, retry_policy};
pub use token::Provided;
