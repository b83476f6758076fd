//! The end-to-end tests: the real binary, real sockets, the real client.

mod bodies;
mod client;
mod command_line;
mod compat;
mod contract;
mod credentials;
mod database;
mod errors;
mod export;
mod first_use;
mod framing;
mod fuzzing;
mod hard_to_kill;
mod limits;
mod logs;
mod members;
mod metrics;
mod mutations;
mod properties;
mod races;
mod readmes;
mod rooms;
mod schemas;
mod signals;
mod stores;
mod tokens;
