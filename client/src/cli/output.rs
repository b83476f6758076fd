//! The output of a command: lines for people on a terminal, JSON elsewhere.

use std::cell::Cell;
use std::fmt::{Debug, Write as _};
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use anyhow::Result;
use serde::Serialize;
use serde_json::Value;

use super::generated::CliConfig;
use crate::causes::escape_control;
use crate::{Error, Failure, ResponseValue};

/// Prints the service's responses.
#[derive(Default)]
pub struct Output {
    /// The result of printing so far, kept here because the methods of [`CliConfig`] return
    /// nothing.
    printed: Cell<Option<Result<()>>>,
}

impl Output {
    /// Returns the error if something could not be printed.
    pub fn finish(&self) -> Result<()> {
        self.printed.take().unwrap_or(Ok(()))
    }
}

impl CliConfig for &Output {
    fn success_item<T: Serialize + Debug>(&self, value: &ResponseValue<T>) {
        self.list_item(&**value);
    }

    fn success_no_item(&self, _: &ResponseValue<()>) {}

    /// Prints nothing: the caller gets the error too, and prints it.
    fn error<T: Serialize + Debug>(&self, _: &Error<T>) {}

    fn list_start<T: Serialize + Debug>(&self) {}

    fn list_item<T: Serialize + Debug>(&self, value: &T) {
        self.printed.set(Some(self.finish().and_then(|()| print(value))));
    }

    fn list_end_success<T: Serialize + Debug>(&self) {}

    fn list_end_error<T: Serialize + Debug>(&self, _: &Error<T>) {}
}

/// The output of a command could not be written: the disk is full, or the reader of the pipe is
/// gone.
#[derive(Debug, thiserror::Error)]
#[error("cannot write to standard output")]
pub struct StdoutError(#[source] pub io::Error);

/// Writes to stdout.
pub fn write(text: &[u8]) -> Result<()> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(text).and_then(|()| stdout.flush());
    Ok(written.map_err(StdoutError)?)
}

/// Prints a value to stdout.
pub fn print(value: &impl Serialize) -> Result<()> {
    write(format!("{}\n", render(value, io::stdout().is_terminal())).as_bytes())
}

/// Formats a value for people on a terminal, and as JSON for programs.
pub fn render(value: &impl Serialize, is_terminal: bool) -> String {
    let json = serde_json::to_value(value).expect("the value serializes to JSON");
    if is_terminal { human_readable(&json) } else { json.to_string() }
}

/// Formats a value as a line of JSON. Also escapes DEL and the C1 control characters, which JSON
/// allows in a text and a terminal would obey.
pub fn json_line(value: &impl Serialize) -> String {
    let json = serde_json::to_string(value).expect("the value serializes to JSON");
    let mut line = String::with_capacity(json.len() + 1);
    for letter in json.chars() {
        match letter {
            '\u{7f}'..='\u{9f}' => {
                write!(line, "\\u{:04x}", u32::from(letter))
                    .expect("writing to a string cannot fail");
            }
            _ => line.push(letter),
        }
    }
    line + "\n"
}

/// Formats an object like `name "Ficus", tag "indoor"`. Debug formatting escapes what a terminal
/// would obey.
fn human_readable(value: &Value) -> String {
    let Some(object) = value.as_object() else { return value.to_string() };
    let members = object.iter().map(|(name, member)| match member.as_str() {
        Some(text) => format!("{name} {text:?}"),
        None => format!("{name} {member}"),
    });
    members.collect::<Vec<_>>().join(", ")
}

/// Prints a line to stderr. If stderr is closed, the exit code still reports the failure.
pub fn print_to_stderr(line: &str) {
    let _ = writeln!(io::stderr(), "{}", escape_control(line));
}

/// The flag or variable of a token that the service refused.
#[derive(Debug, thiserror::Error)]
#[error("the token came from {0}")]
pub struct TokenSource(pub String);

/// Prints to stderr why a command failed, and returns its exit code.
pub fn report_failure(error: &anyhow::Error) -> ExitCode {
    let failure = error.downcast_ref::<Failure>();
    let refusal = failure.and_then(Failure::refusal);
    if let Some(refusal) = refusal.filter(|_| !io::stderr().is_terminal()) {
        print_to_stderr(&serde_json::to_string(refusal).expect("a refusal is JSON"));
    } else if let (Some(failure), Some(source)) = (failure, error.downcast_ref::<TokenSource>()) {
        print_to_stderr(&format!("plants: {failure}; {source}"));
    } else {
        print_to_stderr(&format!("plants: {error:#}"));
    }
    let was_sent = failure.is_some() || error.is::<StdoutError>();
    if was_sent { ExitCode::FAILURE } else { ExitCode::from(2) }
}
