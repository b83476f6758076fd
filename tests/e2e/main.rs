//! The end-to-end tests: the real binary, real sockets, the real client.

mod contract;
mod first_use;
