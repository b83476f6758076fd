//! How the chores run: the root of the checkout, other programs, and what the machine has. The
//! tests and `chores/` use it too.

pub mod bench;
pub mod cargo;
pub mod checkout;
pub mod checks;
pub mod needs;
pub mod postgres;
pub mod run;
