//! What a command prints: a line for people on a terminal, JSON elsewhere.

use std::fmt::Debug;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use crate::failure::{explained, in_one_line};
use crate::{Error, ErrorCode, ResponseValue, types};
use serde::Serialize;
use serde_json::Value;

use super::generated::CliConfig;

const UNAUTHORIZED: i32 = ErrorCode::Unauthorized.number();

/// Prints what the service answers.
pub struct Output;

impl CliConfig for Output {
    fn success_item<T: Serialize + Debug>(&self, value: &ResponseValue<T>) {
        print(&**value);
    }

    fn success_no_item(&self, _: &ResponseValue<()>) {}

    /// The caller gets it too, and prints it.
    fn error<T: Serialize + Debug>(&self, _: &Error<T>) {}

    fn list_start<T: Serialize + Debug>(&self) {}

    fn list_item<T: Serialize + Debug>(&self, value: &T) {
        print(value);
    }

    fn list_end_success<T: Serialize + Debug>(&self) {}

    fn list_end_error<T: Serialize + Debug>(&self, _: &Error<T>) {}
}

/// Prints a value to standard output.
pub fn print(value: &impl Serialize) {
    let json = serde_json::to_value(value).expect("what came as JSON can be JSON");
    let text = if io::stdout().is_terminal() { for_people(&json) } else { json.to_string() };
    // A reader that has closed the pipe wants no more.
    let _ = writeln!(io::stdout(), "{text}");
}

/// `name "Ficus", tag "indoor"`. Debug escapes what a terminal would obey.
fn for_people(value: &Value) -> String {
    let Some(object) = value.as_object() else { return value.to_string() };
    let members = object.iter().map(|(name, member)| match member.as_str() {
        Some(text) => format!("{name} {text:?}"),
        None => format!("{name} {member}"),
    });
    members.collect::<Vec<_>>().join(", ")
}

/// Prints a line to standard error. If nobody reads it, the exit status says enough.
pub fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{}", in_one_line(line));
}

/// Prints to standard error why a command has failed, and gives its exit status.
pub fn failed(error: &anyhow::Error) -> ExitCode {
    let answer = error.downcast_ref::<Error<types::Error>>();
    match answer {
        Some(Error::ErrorResponse(refusal)) if !io::stderr().is_terminal() => {
            say(&serde_json::to_string(&**refusal).expect("it came as JSON"));
        }
        Some(answer @ Error::ErrorResponse(refusal)) if refusal.error == UNAUTHORIZED => {
            say(&format!("plants: {}; {error}", explained(answer)));
        }
        Some(error) => say(&format!("plants: {}", explained(error))),
        None => say(&format!("plants: {error:#}")),
    }
    ExitCode::from(if answer.is_some() { 1 } else { 2 })
}
