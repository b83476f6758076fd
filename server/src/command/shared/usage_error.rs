//! Removes secrets from clap's message about a command line that cannot be parsed.

use clap::error::ContextKind::{InvalidArg, InvalidSubcommand, InvalidValue};
use clap::error::ContextValue;

use crate::names::TOKEN_PREFIX;

/// Redacts values that may be secrets: a URL with a password, or a token.
pub fn redact_secrets(mut error: clap::Error) -> clap::Error {
    let flag = error.get(InvalidArg).map(ToString::to_string).unwrap_or_default();
    for kind in [InvalidValue, InvalidArg, InvalidSubcommand] {
        let is_secret = |value: &ContextValue| {
            let is_url = kind == InvalidValue && flag.contains("URL>");
            is_url || value.to_string().contains(TOKEN_PREFIX)
        };
        if error.get(kind).is_some_and(is_secret) {
            error.insert(kind, ContextValue::String("…".into()));
        }
    }
    error
}
