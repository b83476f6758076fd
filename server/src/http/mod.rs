//! The code that knows HTTP: what happens to a request.
//!
//! Nothing here knows which engine keeps the plants.

pub mod accepted_tokens;
mod access;
mod answer;
pub mod bodies;
pub mod credentials;
mod head;
mod metrics;
pub mod rates;
mod refusal;
pub mod request;
pub mod server;
pub mod service;
pub mod strict;
pub mod tls;
