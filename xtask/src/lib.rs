//! How the chores run: the root of the checkout, other programs, and what the machine has. The
//! tests and `chores/` use it too.

pub mod checks;
pub mod postgres;
pub mod run;
