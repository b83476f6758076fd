//! The chores that need the code of the contract, as functions: the command line calls them, and so
//! do the tests of those chores that judge something.

pub mod compat;
pub mod docs;
pub mod errors;
pub mod generate;
pub mod release;
pub mod tools;
