//! The code that knows HTTP: what happens to a request.
//!
//! Nothing here knows which engine keeps the plants.

mod access_record;
pub(crate) mod body;
mod create_plant;
mod head;
mod json;
pub(crate) mod known_tokens;
mod metrics;
mod operations;
mod permits;
mod rate;
mod refusal;
mod request;
pub(crate) mod server;
pub(crate) mod service;
