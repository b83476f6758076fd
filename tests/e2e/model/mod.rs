//! The store as a model. An id is a register that is written once: the first 200 or 409 for it
//! shows which plant is stored, and every other answer leaves that open. A token is valid or
//! revoked. A scene is a list of steps that begins and ends faults under load; the model judges
//! every answer, every export, every check and the end of every process.
//!
//! `faults.rs` is the only table of what a fault allows, and `rules.rs` judges without I/O.

/// Fixed scenes, each of which is a test.
macro_rules! scenes {
    ($world:expr; $($(#[$attribute:meta])* $name:ident: [$($step:expr),* $(,)?];)*) => {
        $(#[test] $(#[$attribute])* fn $name() { play($world, &[$($step),*]); })*
    };
}

mod clients;
mod faults;
mod play;
mod postgres;
mod rules;
mod sqlite;
mod steps;
mod world;
