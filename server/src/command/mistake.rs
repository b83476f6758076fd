//! What is said about a wrong command line: clap's first sentence, on one line.
//!
//! clap repeats the word that is wrong. A word with `://`, `@` or `password=` may be the URL of a
//! database, or a part of one that was not quoted for the shell, and hold a password. If there is such
//! a word, no word of the command line is repeated.

use std::env;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};

use crate::command::password::HIDDEN;

/// Whether the command line is wrong. A request for help or an empty command line is not wrong.
#[must_use]
pub fn is_mistake(error: &Error) -> bool {
    error.use_stderr() && error.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
}

/// What is wrong with the command line of `command`, and in which environment variable.
#[must_use]
pub fn one_line(mut error: Error, mut command: Command) -> String {
    // Only then an argument can be printed as the error has it.
    command.build();
    let variable = variable(&error, &command);
    hide_passwords(&mut error);
    let text = error.to_string();
    let said = text.split("\n\nUsage:").next().unwrap_or_default();
    let said = said.split("\n\nFor more").next().unwrap_or_default();
    let words: Vec<_> = said.split_whitespace().collect();
    let said = words.join(" ").trim_start_matches("error: ").to_owned();
    match variable {
        Some(variable) => format!("in {variable}: {said}"),
        None => said,
    }
}

fn hide_passwords(error: &mut Error) {
    let may_hold_one =
        |word: &str| ["://", "@", "password="].iter().any(|part| word.contains(part));
    let value = error.get(ContextKind::InvalidValue);
    let is_in_value = value.is_some_and(|value| may_hold_one(&value.to_string()));
    if !is_in_value && !env::args_os().any(|word| may_hold_one(&word.to_string_lossy())) {
        return;
    }
    error.remove(ContextKind::Suggested);
    let mut kinds = vec![ContextKind::InvalidValue, ContextKind::InvalidSubcommand];
    // In other mistakes this is the name of a flag.
    if error.kind() == ErrorKind::UnknownArgument {
        kinds.push(ContextKind::InvalidArg);
    }
    for kind in kinds {
        if error.remove(kind).is_some() {
            error.insert(kind, ContextValue::String(HIDDEN.into()));
        }
    }
}

/// The environment variable that holds the wrong value, unless a flag does.
fn variable(error: &Error, command: &Command) -> Option<String> {
    let wrong = error.get(ContextKind::InvalidArg)?.to_string();
    let mut arguments = command.get_subcommands().flat_map(Command::get_arguments);
    let argument = arguments.find(|argument| argument.to_string() == wrong)?;
    let flag = format!("--{}", argument.get_long()?);
    let is_given = env::args_os().any(|word| word.to_string_lossy().starts_with(&flag));
    let variable = argument.get_env().filter(|name| !is_given && env::var_os(name).is_some())?;
    Some(variable.to_string_lossy().into_owned())
}
