#![doc = include_str!("../README.md")]
//!
//! [`Client`] and [`types`] are generated (`src/generated.rs`); the rest of the library is written by
//! hand.

#[allow(
    missing_docs,
    unused_imports,
    clippy::pedantic,
    clippy::unwrap_used,
    reason = "generated: the generator decides how it reads"
)]
#[rustfmt::skip]
mod generated;

mod options;
mod retry;

pub use backon::ExponentialBuilder;
pub use generated::{Client, ClientInfo, Error, ResponseValue, builder, types};
pub use options::{ClientOptions, InvalidClient, client_with_token};
pub use retry::{Provided, RetryingClient, explained, may_repeat, refusal, retry_policy};
