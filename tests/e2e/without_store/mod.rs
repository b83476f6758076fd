//! The checked-in files, the chores that check them, and the command line. Nothing here depends on
//! the engine, so each test runs only once.

pub mod command_line;
pub mod compat;
pub mod contract;
mod digests;
pub mod readmes;
mod starts;
mod variables;
pub mod warnings;
pub mod words;
