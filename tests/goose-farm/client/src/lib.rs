//! The generated client of the goose farm: `groundwork_client::client::<Client>(url, token)` builds
//! one. `cargo xtask generate` writes `generated.rs`.

#[rustfmt::skip]
mod generated;

pub use generated::{Client, types};
