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
mod secrets;
mod sqlite;
mod supervised;
mod tls;
mod tokens;
mod wire;
mod without_store;
