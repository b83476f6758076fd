//! The rows of a CSV file, read by the crate `csv`. The header names the members of a plant.

use std::io::{self, Read};

use anyhow::{Result, bail};
use csv::{ByteRecord, ErrorKind, Reader};
use serde_json::json;

use super::record::{Record, Text};
use crate::types::NewPlant;

/// The rows after a header.
pub struct Rows<R> {
    reader: Reader<R>,
    header: ByteRecord,
    /// How many lines later each row begins: `csv` counts the LF of a CRLF to the row behind it.
    later: u64,
}

impl<R: Read> Rows<R> {
    /// Reads the header. Fails if it names a column that the contract does not have, unless such
    /// columns are left out: their values would be lost.
    pub fn new(input: R, ignores_unknown: bool) -> Result<Self> {
        let mut reader = Reader::from_reader(input);
        let header = reader.headers()?.clone();
        if let Some(name) = header.iter().find(|name| !ignores_unknown && is_unknown(name)) {
            bail!("the header has the unknown column {name:?}: correct it, or add --ignore-unknown")
        }
        let later = u64::from(reader.position().line() == 1);
        Ok(Self { reader, header: header.into_byte_record(), later })
    }

    /// What the rejected rows begin with.
    pub fn header(&self) -> &ByteRecord {
        &self.header
    }

    fn read(&mut self) -> io::Result<Option<Record>> {
        let mut row = ByteRecord::new();
        let plant = match self.reader.read_byte_record(&mut row) {
            Ok(false) => return Ok(None),
            Ok(true) => self.plant(&row),
            Err(error) if error.is_io_error() => return Err(error.into()),
            Err(error) => Err(self.explained(&error)),
        };
        let line = self.later + row.position().map_or(0, csv::Position::line);
        Ok(Some(Record { line, plant, text: Text::Row(row) }))
    }

    /// The plant of a row, or why it is none.
    fn plant(&self, row: &ByteRecord) -> Result<NewPlant, String> {
        // `csv` reads on to the next quote, and does not say that there is none.
        if row.iter().any(|field| field.contains(&b'\n') || field.contains(&b'\r')) {
            return Err("a field has a line break: is a quote not closed? A plant with a line \
                        break needs JSON lines"
                .to_owned());
        }
        row.deserialize(Some(&self.header)).map_err(|error| self.explained(&error))
    }

    /// Why a row is no plant. The record has the number of its line.
    fn explained(&self, error: &csv::Error) -> String {
        match error.kind() {
            ErrorKind::UnequalLengths { expected_len, len, .. } => {
                format!("the row has {len} fields, the header has {expected_len}")
            }
            ErrorKind::Deserialize { err, .. } => {
                let column = err.field().and_then(|field| usize::try_from(field).ok());
                match column.and_then(|column| self.header.get(column)) {
                    Some(name) => format!("`{}`: {}", String::from_utf8_lossy(name), err.kind()),
                    None => err.kind().to_string(),
                }
            }
            _ => error.to_string(),
        }
    }
}

impl<R: Read> Iterator for Rows<R> {
    type Item = io::Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

/// Whether no member of a plant has this name.
fn is_unknown(column: &str) -> bool {
    let mut is_unknown = false;
    // Only its name matters: the value is no plant's.
    let plant = json!({ column: null });
    let _ = serde_ignored::deserialize::<_, _, NewPlant>(plant, |_| is_unknown = true);
    is_unknown
}
