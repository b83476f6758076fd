//! The HTTP side of the service: everything that happens to a request.
//!
//! Nothing here knows which engine stores the plants.

mod access_log;
pub(crate) mod body;
mod head;
mod json;
pub(crate) mod known_tokens;
mod operations;
mod permits;
mod rate;
mod refusal;
mod request;
pub(crate) mod server;
pub(crate) mod service;
