//! The checked-in files and the command line. Nothing here depends on the engine, so each test runs
//! only once.

pub mod command_line;
pub mod contract;
mod digests;
pub mod readmes;
pub mod starts;
