//! The code that knows HTTP and OpenAPI: the contract, and what happens to a request.
//!
//! Nothing here knows which engine keeps the plants, and nothing outside knows what the published
//! document looks like.

pub mod accepted_tokens;
mod access;
mod answer;
pub mod api;
pub mod bodies;
pub mod credentials;
pub mod document;
pub mod error_code;
mod head;
mod metrics;
pub mod new_plant;
pub mod rates;
mod refusal;
pub mod request;
pub mod server;
pub mod service;
pub mod tls;
