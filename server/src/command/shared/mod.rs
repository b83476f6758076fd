//! What several commands use. Nothing here knows a command.

pub mod copying;
pub mod first_process;
pub mod in_words;
pub mod output;
pub mod pages;
pub mod store_args;
pub mod usage_error;
pub mod variable;
pub mod verdict;
