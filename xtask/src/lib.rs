//! The chores of this repository, as functions: the command line calls them, and so do the tests
//! of those chores that judge something.

#![allow(
    clippy::missing_errors_doc,
    clippy::missing_panics_doc,
    reason = "the person who runs a chore reads the error itself"
)]

pub mod compat;
pub mod conformance;
pub mod docs;
pub mod generate;
pub mod machine;
pub mod postgres;
pub mod release;
pub mod run;
mod undocumented;
