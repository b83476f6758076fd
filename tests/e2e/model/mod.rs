//! The store as a model. An id is a register that is written once: a 200 leaves only the world in
//! which its plant is stored, a 409 rules that world out, and every other answer leaves both. A
//! token is valid or revoked. A scene is a list of steps that begins and ends faults under load;
//! the model judges every answer, every export, every check and the end of every process.
//!
//! `faults.rs` is the only table of what a fault allows, and `rules.rs` judges without I/O.

mod clients;
mod faults;
mod play;
mod postgres;
mod rules;
mod sqlite;
mod stalls;
mod steps;
mod world;
