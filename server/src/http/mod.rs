//! The code that knows HTTP: what happens to a request.
//!
//! Nothing here knows which engine keeps the plants.

pub(crate) mod accepted_tokens;
mod admission;
mod answer;
pub(crate) mod body;
pub(crate) mod server;
pub(crate) mod service;
pub mod strict;
