//! The end-to-end tests: the real binary, real sockets, the real client.

mod compat;
mod contract;
mod first_use;
mod mutations;
