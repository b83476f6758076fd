//! The chores that need the code of the contract, as functions: the command line calls them, and so
//! do the tests of those chores that judge something.

#![allow(
    clippy::missing_errors_doc,
    clippy::missing_panics_doc,
    reason = "the person who runs a chore reads the error itself"
)]

pub mod compat;
pub mod conformance;
pub mod docs;
pub mod errors;
pub mod generate;
pub mod tools;
