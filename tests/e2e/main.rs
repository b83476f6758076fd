//! The end-to-end tests: the real binary, real sockets, the real client.

mod bodies;
mod compat;
mod contract;
mod credentials;
mod database;
mod errors;
mod first_use;
mod framing;
mod limits;
mod mutations;
mod properties;
