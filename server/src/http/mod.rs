//! The code that knows HTTP: what happens to a request.
//!
//! Nothing here knows which engine keeps the plants.

pub(crate) mod accepted_tokens;
mod access;
mod admission;
mod answer;
pub(crate) mod body;
mod create_plant;
mod credentials;
mod exchange;
mod field;
mod framing;
mod media_type;
mod metrics;
mod permits;
mod rate;
mod refusal;
pub(crate) mod server;
pub(crate) mod service;
pub mod strict;
