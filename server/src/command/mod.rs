//! What each command of the command line does, but for `serve`, which [`crate::server`] does.

pub mod export;
pub mod token;
