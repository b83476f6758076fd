//! The chores of this repository, as functions: the command line calls them, and so do the tests of
//! those chores that judge something.
//!
//! This crate must build within seconds, and whether or not the service, the client and the tests
//! compile. So it knows how the chores run, and does not use the code of the service: what needs
//! that code is the test `golden`, which makes the document and the client.

pub mod bench;
pub mod cargo;
pub mod checkout;
pub mod checks;
pub mod compat;
pub mod conformance;
pub mod docs;
pub mod needs;
// not copied
pub mod new;
// end of not copied
pub mod postgres;
pub mod release;
pub mod run;
pub mod server;
pub mod tools;
