//! How the chores run: the root of the checkout, other programs, and what the machine has. The
//! tests and `chores/` use it too.

#![allow(
    clippy::missing_errors_doc,
    clippy::missing_panics_doc,
    reason = "the person who runs a chore reads the error itself"
)]

pub mod bench;
pub mod checks;
pub mod machine;
pub mod postgres;
pub mod programs;
pub mod run;
