//! What clap says of a command line that cannot be parsed: without what may be a secret, and with
//! the variable of the environment if the value came from one.

use std::env;

use clap::error::ContextKind::{InvalidArg, InvalidSubcommand, InvalidValue};
use clap::error::{ContextValue, ErrorKind};

use crate::token::PREFIX;

/// Finishes the message of an error.
pub fn finish(error: clap::Error) -> clap::Error {
    without_secrets(with_variable(error))
}

/// Names the variable if the flag of the value is not on the command line.
fn with_variable(mut error: clap::Error) -> clap::Error {
    let is_of_value = [ErrorKind::InvalidValue, ErrorKind::ValueValidation].contains(&error.kind());
    let Some(flag) = error.get(InvalidArg).map(ToString::to_string).filter(|_| is_of_value) else {
        return error;
    };
    let name = flag.split(' ').next().unwrap_or_default();
    let is_typed =
        env::args_os().any(|word| word.to_string_lossy().split('=').next() == Some(name));
    if let Some(variable) = name.strip_prefix("--").filter(|_| !is_typed) {
        let variable = variable.replace('-', "_").to_uppercase();
        let source = format!("PLANT_STORE_{variable}, the variable of {flag}");
        error.insert(InvalidArg, ContextValue::String(source));
    }
    error
}

/// Takes out of the message what may be a secret: a URL with a password, or a token.
fn without_secrets(mut error: clap::Error) -> clap::Error {
    let flag = error.get(InvalidArg).map(ToString::to_string).unwrap_or_default();
    for kind in [InvalidValue, InvalidArg, InvalidSubcommand] {
        let is_secret = |said: &ContextValue| {
            let is_url = kind == InvalidValue && flag.contains("<URL>");
            is_url || said.to_string().contains(PREFIX)
        };
        if error.get(kind).is_some_and(is_secret) {
            error.insert(kind, ContextValue::String("…".into()));
        }
    }
    error
}
