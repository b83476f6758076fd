//! The code that knows HTTP: what happens to a request.
//!
//! Nothing here knows which engine keeps the plants.

mod access_record;
mod admission;
mod answer;
pub(crate) mod body;
mod create_plant;
mod credentials;
mod exchange;
mod fairness;
mod field;
mod framing;
pub(crate) mod known_tokens;
mod media_type;
mod metrics;
mod operations;
mod permits;
mod rate;
mod refusal;
pub(crate) mod server;
pub(crate) mod service;
// For the fuzzing.
pub mod strict;
