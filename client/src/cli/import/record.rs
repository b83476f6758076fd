//! A record of the file: a plant, or why it is none.

use std::io;

use serde_json::{Value, json};

use crate::types::NewPlant;

/// The longest line or row that is read, in bytes: more than the longest body that the service
/// takes by default. It bounds the memory of the import.
pub const LONGEST: u64 = 1024 * 1024;

/// A line of JSON, or a row of CSV.
pub struct Record {
    /// The number of its first line, from 1 on.
    pub line: u64,
    pub plant: Result<NewPlant, NoPlant>,
}

/// A record that is not a plant.
pub struct NoPlant {
    /// What is wrong with it, and what to do.
    pub message: String,
    /// The record: an object if nothing but a name is wrong with it, or else its text.
    pub content: Value,
}

impl Record {
    /// The record as the last member of the line that rejects it: its name, and its value.
    pub fn content(&self) -> (&'static str, Value) {
        match &self.plant {
            Ok(plant) => ("plant", json!(plant)),
            Err(NoPlant { content, .. }) if content.is_object() => ("plant", content.clone()),
            Err(NoPlant { content, .. }) => ("text", content.clone()),
        }
    }
}

/// The record that begins at this line is longer than [`LONGEST`].
pub fn too_long(line: u64) -> io::Error {
    io::Error::other(format!("the record at line {line} is longer than 1 MiB"))
}
