//! The chores of this repository, as a library for the command line and the tests.
//!
//! This crate must build within seconds, even if the service, the client or the tests do not
//! compile. So it must not depend on their code. Only the test `golden` builds and runs the
//! services.

pub mod bench;
pub mod checkout;
pub mod checks;
pub mod compat;
pub mod conformance;
pub mod faults;
pub mod release;
pub mod server;
