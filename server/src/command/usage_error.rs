//! What clap says of a command line that cannot be parsed: without what may be a secret, and with
//! the variable of the environment if the value came from one.

use std::env;

use clap::error::ContextKind::{InvalidArg, InvalidSubcommand, InvalidValue};
use clap::error::{ContextValue, ErrorKind};

use crate::command::variable;
use crate::token::TOKEN_PREFIX;

/// Finishes the message of an error.
pub fn finish(error: clap::Error) -> clap::Error {
    without_secrets(name_variable(error))
}

/// Names the variable if the flag of the value is not on the command line.
fn name_variable(mut error: clap::Error) -> clap::Error {
    if ![ErrorKind::InvalidValue, ErrorKind::ValueValidation].contains(&error.kind()) {
        return error;
    }
    let Some(flag) = error.get(InvalidArg).map(ToString::to_string) else { return error };
    // clap gives the flag with its value's name: `--flag <VALUE>`.
    let name = flag.split(' ').next().unwrap_or_default();
    if let Some(long) = name.strip_prefix("--")
        && !is_typed(name)
    {
        let variable = variable::of_flag(long);
        let source = format!("{variable}, the variable of {flag}");
        error.insert(InvalidArg, ContextValue::String(source));
    }
    error
}

/// Whether the flag is on the command line, as `--flag VALUE` or `--flag=VALUE`.
fn is_typed(flag: &str) -> bool {
    env::args_os().any(|word| word.to_string_lossy().split('=').next() == Some(flag))
}

/// Takes out of the message what may be a secret: a URL with a password, or a token.
fn without_secrets(mut error: clap::Error) -> clap::Error {
    let flag = error.get(InvalidArg).map(ToString::to_string).unwrap_or_default();
    for kind in [InvalidValue, InvalidArg, InvalidSubcommand] {
        let is_secret = |said: &ContextValue| {
            let is_url = kind == InvalidValue && flag.contains("<URL>");
            is_url || said.to_string().contains(TOKEN_PREFIX)
        };
        if error.get(kind).is_some_and(is_secret) {
            error.insert(kind, ContextValue::String("…".into()));
        }
    }
    error
}
