//! Code that several commands use. Nothing here knows about a particular command.

pub mod error_message;
pub mod output;
pub mod pid_1;
pub mod store_args;
pub mod usage_error;
pub mod variable;
