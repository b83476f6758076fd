//! JSON lines: a record is a line. Empty ones are passed over.

use std::io::{self, BufRead, Read};

use super::record::{LONGEST, NoPlant, Record, too_long};
use crate::cli::reader::{self, Invalid};
use crate::types::NewPlant;

const NO_OBJECT: &str = "; each line has to be one: `jq -c '.[]'` writes the objects of an array \
                         so, and CSV needs --format csv";

const NO_END: &str = "; a line has to be a whole object: `jq -c .` writes it so";

/// The lines of a file.
pub struct Lines<R> {
    input: R,
    /// The number of the last line.
    line: u64,
    ignores_unknown: bool,
}

impl<R: BufRead> Lines<R> {
    /// Begins at the first line.
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

fn plant(text: &[u8], ignores_unknown: bool) -> Result<NewPlant, NoPlant> {
    reader::json(text, ignores_unknown).map_err(|Invalid { message, object }| {
        let advice = match message.as_str() {
            reader::NO_OBJECT => NO_OBJECT,
            end if end.starts_with("EOF while parsing") => NO_END,
            _ => "",
        };
        // The record has the number of the line.
        let message = message.replace(" at line 1 column ", " at column ") + advice;
        let content = object.unwrap_or_else(|| String::from_utf8_lossy(text).into());
        NoPlant { message, content }
    })
}
