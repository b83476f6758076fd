//! A record of the file: a plant, or why it is not one.

use std::io;

use serde_json::{Value, json};

use crate::types::NewPlant;

/// The length limit of a line or row, in bytes. It bounds the memory of the import, and is larger
/// than the service's default limit on a body.
pub const LONGEST: u64 = 1024 * 1024;

/// A line of JSON, or a row of CSV.
pub struct Record {
    /// The number of its first line, counted from 1.
    pub line: u64,
    pub plant: Result<NewPlant, InvalidRecord>,
}

/// A record that is not a plant.
pub struct InvalidRecord {
    /// What is wrong with the record, and how to fix it.
    pub message: String,
    /// The record: an object if an unknown member is all that is wrong with it, or else its text.
    pub content: Value,
}

impl Record {
    /// Returns the record as a member of the line on stdout that rejects it: a name and a value.
    pub fn content(&self) -> (&'static str, Value) {
        match &self.plant {
            Ok(plant) => ("plant", json!(plant)),
            Err(InvalidRecord { content, .. }) if content.is_object() => ("plant", content.clone()),
            Err(InvalidRecord { content, .. }) => ("text", content.clone()),
        }
    }
}

/// The error for a record that is longer than [`LONGEST`] and begins at this line.
pub fn too_long(line: u64) -> io::Error {
    io::Error::other(format!("the record at line {line} is longer than 1 MiB"))
}
