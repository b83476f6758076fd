//! A record of a file, and the plant that it is.

use csv::ByteRecord;

use crate::types::NewPlant;

/// A line of JSON, or a row of CSV.
pub struct Record {
    /// The number of its first line, from 1 on.
    pub line: u64,
    /// The plant, or why it is none.
    pub plant: Result<NewPlant, String>,
    pub text: Text,
}

/// A record as it is in the file.
pub enum Text {
    Line(Vec<u8>),
    Row(ByteRecord),
}
