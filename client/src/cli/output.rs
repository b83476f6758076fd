//! What a command prints: a line for people on a terminal, JSON elsewhere.

use std::fmt::Debug;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use crate::causes::in_one_line;
use crate::failure::explained;
use crate::{Error, ResponseValue, types};
use serde::Serialize;
use serde_json::Value;

use super::generated::CliConfig;

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

/// Where a token is from that the service refused.
#[derive(Debug, thiserror::Error)]
#[error("the token is that of {0}")]
pub struct SourceOfToken(pub String);

/// Prints to standard error why a command has failed, and gives its exit status.
pub fn failed(error: &anyhow::Error) -> ExitCode {
    let Some(of_request) = error.downcast_ref::<Error<types::Error>>() else {
        say(&format!("plants: {error:#}"));
        return ExitCode::from(2);
    };
    if let Error::ErrorResponse(refusal) = of_request
        && !io::stderr().is_terminal()
    {
        say(&serde_json::to_string(&**refusal).expect("it came as JSON"));
    } else if let Some(source) = error.downcast_ref::<SourceOfToken>() {
        say(&format!("plants: {}; {source}", explained(of_request)));
    } else {
        say(&format!("plants: {}", explained(of_request)));
    }
    ExitCode::FAILURE
}
