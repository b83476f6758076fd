//! Requests and answers, byte for byte. These tests run on both engines.

pub mod bodies;
pub mod client;
pub mod credentials;
pub mod errors;
pub mod frameworks;
pub mod framing;
pub mod limits;
pub mod logs;
pub mod properties;
pub mod signals;
