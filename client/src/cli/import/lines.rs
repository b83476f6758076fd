//! Reads JSON lines. A record is a line, and empty lines are skipped.

use std::io::{self, BufRead, Read};

use super::record::{InvalidRecord, LONGEST, Record, too_long};
use crate::cli::reader::{self, Invalid};
use crate::types::NewPlant;

/// Advice for a line that is not an object.
const NOT_AN_OBJECT: &str = "; each line must be one: `jq -c '.[]'` writes each object of an array \
                             on its own line, and CSV needs --format csv";

/// Advice for an object that continues on the next line.
const INCOMPLETE: &str =
    "; a line must contain a whole object: `jq -c .` writes each object on its own line";

/// Iterates over the records of a file.
pub struct Lines<R> {
    input: R,
    /// The number of the line that was read last.
    line: u64,
    ignores_unknown: bool,
}

impl<R: BufRead> Lines<R> {
    /// Creates an iterator that begins at the first line.
    pub fn new(input: R, ignores_unknown: bool) -> Self {
        Self { input, line: 0, ignores_unknown }
    }

    fn read(&mut self) -> io::Result<Option<Record>> {
        let mut text = Vec::new();
        while text.is_empty() {
            if self.input.by_ref().take(LONGEST).read_until(b'\n', &mut text)? == 0 {
                return Ok(None);
            }
            self.line += 1;
            if text.len() as u64 == LONGEST {
                return Err(too_long(self.line));
            }
            text.truncate(text.trim_ascii_end().len());
        }
        let plant = plant(&text, self.ignores_unknown);
        Ok(Some(Record { line: self.line, plant }))
    }
}

impl<R: BufRead> Iterator for Lines<R> {
    type Item = io::Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

fn plant(text: &[u8], ignores_unknown: bool) -> Result<NewPlant, InvalidRecord> {
    reader::json(text, ignores_unknown).map_err(|Invalid { message, object }| {
        let advice = match message.as_str() {
            reader::NOT_AN_OBJECT => NOT_AN_OBJECT,
            message if message.starts_with("EOF while parsing") => INCOMPLETE,
            _ => "",
        };
        // The record contains the real line number.
        let message = message.replace(" at line 1 column ", " at column ") + advice;
        let content = object.unwrap_or_else(|| String::from_utf8_lossy(text).into());
        InvalidRecord { message, content }
    })
}
