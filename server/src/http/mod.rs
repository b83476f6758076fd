//! The HTTP side of the service: everything that happens to a request.
//!
//! Nothing here knows which engine stores the plants.

mod access_log;
mod body;
mod head;
mod json;
mod known_tokens;
pub(crate) mod limits;
mod operations;
mod permits;
mod refusal;
mod request;
pub(crate) mod server;
pub(crate) mod service;
