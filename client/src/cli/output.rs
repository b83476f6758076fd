//! What a command prints: a line for people on a terminal, JSON elsewhere.

use std::cell::Cell;
use std::fmt::{Debug, Write as _};
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use anyhow::Result;
use serde::Serialize;
use serde_json::Value;

use super::generated::CliConfig;
use crate::causes::in_one_line;
use crate::{Error, Failure, ResponseValue};

/// Prints what the service answers.
#[derive(Default)]
pub struct Output {
    /// What the last print came to: the methods of [`CliConfig`] return nothing.
    printed: Cell<Option<Result<()>>>,
}

impl Output {
    /// Fails if something could not be printed.
    pub fn finish(&self) -> Result<()> {
        self.printed.take().unwrap_or(Ok(()))
    }
}

impl CliConfig for &Output {
    fn success_item<T: Serialize + Debug>(&self, value: &ResponseValue<T>) {
        self.list_item(&**value);
    }

    fn success_no_item(&self, _: &ResponseValue<()>) {}

    /// The caller gets it too, and prints it.
    fn error<T: Serialize + Debug>(&self, _: &Error<T>) {}

    fn list_start<T: Serialize + Debug>(&self) {}

    fn list_item<T: Serialize + Debug>(&self, value: &T) {
        self.printed.set(Some(self.finish().and_then(|()| print(value))));
    }

    fn list_end_success<T: Serialize + Debug>(&self) {}

    fn list_end_error<T: Serialize + Debug>(&self, _: &Error<T>) {}
}

/// What was done is not printed: the disk is full, or the reader of the pipe has gone.
#[derive(Debug, thiserror::Error)]
#[error("cannot write to standard output")]
pub struct Unprinted(#[source] pub io::Error);

/// Writes to standard output.
pub fn write(text: &[u8]) -> Result<()> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(text).and_then(|()| stdout.flush());
    Ok(written.map_err(Unprinted)?)
}

/// Prints a value to standard output.
pub fn print(value: &impl Serialize) -> Result<()> {
    write(format!("{}\n", shown(value, io::stdout().is_terminal())).as_bytes())
}

/// A value for people on a terminal, and as JSON for programs.
pub fn shown(value: &impl Serialize, is_terminal: bool) -> String {
    let json = serde_json::to_value(value).expect("what came as JSON can be JSON");
    if is_terminal { for_people(&json) } else { json.to_string() }
}

/// A value as a line of JSON, in which also the control characters are escaped that JSON allows in a
/// text and a terminal would obey: DEL and C1.
pub fn json_line(value: &impl Serialize) -> String {
    let json = serde_json::to_string(value).expect("what came as JSON can be JSON");
    let mut line = String::with_capacity(json.len() + 1);
    for letter in json.chars() {
        match letter {
            '\u{7f}'..='\u{9f}' => {
                write!(line, "\\u{:04x}", u32::from(letter)).expect("a string takes it");
            }
            _ => line.push(letter),
        }
    }
    line + "\n"
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
    let failure = error.downcast_ref::<Failure>();
    let refusal = failure.and_then(Failure::refusal);
    if let Some(refusal) = refusal.filter(|_| !io::stderr().is_terminal()) {
        say(&serde_json::to_string(refusal).expect("it came as JSON"));
    } else if let (Some(failure), Some(source)) = (failure, error.downcast_ref::<SourceOfToken>()) {
        say(&format!("plants: {failure}; {source}"));
    } else {
        say(&format!("plants: {error:#}"));
    }
    let was_sent = failure.is_some() || error.is::<Unprinted>();
    if was_sent { ExitCode::FAILURE } else { ExitCode::from(2) }
}
