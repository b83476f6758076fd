//! An input of CSV that records the text of its rows: the reader of CSV gives fields, and a
//! rejected row is written as it is in the file.

use std::io::{self, BufRead, Read};

use super::count::line_ends;
use super::record::LONGEST;

/// A row as it is in the file.
pub struct RawRow {
    /// The number of its first line, from 1 on.
    pub first_line: u64,
    pub last_line: u64,
    /// Without the end of its last line.
    pub text: Vec<u8>,
}

/// An input that records what the reader of CSV has taken, until its row is complete.
pub struct RecordingReader<R> {
    input: R,
    /// From the end of the last row on.
    bytes: Vec<u8>,
    /// How many bytes came before them.
    begin: u64,
    /// How many line ends came before them.
    lines: u64,
}

impl<R: BufRead> RecordingReader<R> {
    /// Nothing is taken yet.
    pub fn new(input: R) -> Self {
        Self { input, bytes: Vec::new(), begin: 0, lines: 0 }
    }

    /// Takes the row that ends before this byte of the input, without the empty lines before it.
    pub fn take_row(&mut self, end: u64) -> RawRow {
        let length = usize::try_from(end - self.begin).expect("they are in memory");
        self.begin = end;
        let mut text: Vec<u8> = self.bytes.drain(..length).collect();
        let empty = text.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        let first_line = self.lines + 1 + line_ends(&text[..empty]);
        self.lines += line_ends(&text);
        text.drain(..empty);
        if text.ends_with(b"\n") {
            text.pop();
        }
        RawRow { first_line, last_line: first_line + line_ends(&text), text }
    }

    /// The first byte that was not taken.
    pub fn peek(&mut self) -> io::Result<Option<u8>> {
        match self.bytes.first() {
            Some(byte) => Ok(Some(*byte)),
            None => Ok(self.input.fill_buf()?.first().copied()),
        }
    }
}

impl<R: BufRead> Read for RecordingReader<R> {
    /// Fails if a row is longer than [`LONGEST`]: a quote that is not closed would have the rest of
    /// the file read into memory.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.bytes.len() as u64 > LONGEST {
            let line = self.lines + 1;
            return Err(io::Error::other(format!(
                "the record from line {line} on is longer than 1 MiB: is a quote not closed?"
            )));
        }
        let count = self.input.read(buffer)?;
        self.bytes.extend_from_slice(&buffer[..count]);
        Ok(count)
    }
}
