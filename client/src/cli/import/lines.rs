//! JSON lines: a record is a line. Empty ones are passed over. What a line says is not judged here.

use std::fs::File;
use std::io::{self, BufRead, Read, Seek, Write};

use bytes::Bytes;

use super::record::{LONGEST, Record};

/// The lines of a file.
pub struct Lines<R> {
    input: R,
    /// The number of the last line.
    line: u64,
}

impl<R: BufRead> Lines<R> {
    /// Begins at the first line.
    pub fn new(input: R) -> Self {
        Self { input, line: 0 }
    }

    /// The next line that is not empty, `None` at the end of the file.
    pub fn next(&mut self) -> io::Result<Option<Record>> {
        loop {
            let mut text = Vec::new();
            self.input.by_ref().take(LONGEST).read_until(b'\n', &mut text)?;
            if text.is_empty() {
                return Ok(None);
            }
            self.line += 1;
            let is_whole = text.ends_with(b"\n") || (text.len() as u64) < LONGEST;
            if !is_whole {
                let rest = self.rest_of_line()?;
                return Ok(Some(Record::too_long(self.line, text.into(), rest)));
            }
            text.truncate(text.trim_ascii_end().len());
            if !text.is_empty() {
                let text = Bytes::from(text);
                return Ok(Some(Record::new(self.line, text.clone(), Ok(text))));
            }
        }
    }

    /// What follows in the line, in a file without a name.
    fn rest_of_line(&mut self) -> io::Result<File> {
        let mut file = tempfile::tempfile()?;
        let mut part = Vec::new();
        while self.input.by_ref().take(LONGEST).read_until(b'\n', &mut part)? > 0 {
            file.write_all(part.strip_suffix(b"\n").unwrap_or(&part))?;
            if part.ends_with(b"\n") {
                break;
            }
            part.clear();
        }
        file.rewind()?;
        Ok(file)
    }
}
