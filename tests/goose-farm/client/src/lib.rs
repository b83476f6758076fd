//! The generated client of the goose farm: `groundwork_client::client::<Client>(url, token)` builds
//! one. `EXPECTORATE=overwrite cargo test --test suite` in the folder of the service writes
//! `generated.rs`.

#[rustfmt::skip]
mod generated;

pub use generated::{Client, types};
