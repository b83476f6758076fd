//! The checked-in files, the chores that judge them, and the command line. No test here needs an
//! engine: each runs once.

pub mod command_line;
pub mod compat;
pub mod contract;
pub mod mutations;
pub mod readmes;
mod starts;
pub mod warnings;
pub mod words;
