//! The end-to-end tests, which use the real binary, real sockets and the real client.

mod admin;
mod consumers;
mod database;
mod export;
mod first_use;
mod goose_farm;
mod hard_to_kill;
mod metrics;
mod model;
mod monitoring;
mod operators;
mod postgres;
mod sqlite;
mod supervised;
mod tls;
mod tokens;
/// Requests and answers, byte for byte. These tests run on both engines.
mod wire {
    mod client;
    mod http;
    mod limits;
    pub mod log;
    mod properties;
    mod refusals;
    pub mod signals;
}
mod without_store;
