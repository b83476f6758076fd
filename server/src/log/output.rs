//! Standard error as the log writes it: whole records, and a count of those that were not written.
//!
//! A write may fail after a part of a record: on a full disk, past a limit on file size, or in a
//! pipe that does not block.

use std::io::{ErrorKind, Write};
use std::mem::take;
use std::thread::sleep;
use std::time::Duration;

/// How long to wait for a full pipe that does not block.
const PAUSE: Duration = Duration::from_millis(10);

/// Where records go, each a line.
pub struct Output<W> {
    to: W,
    /// The rest of a record of which a part is written. It is written before anything else.
    rest: Vec<u8>,
    /// How many records were lost since that was said.
    lost: u64,
}

impl<W: Write> Output<W> {
    pub fn new(to: W) -> Self {
        Self { to, rest: Vec::new(), lost: 0 }
    }

    /// Writes records, and then, by `say`, how many were lost: `lost` of them before.
    pub fn write(&mut self, records: &[u8], lost: u64, say: fn(u64) -> String) {
        self.lost += lost;
        self.append(records);
        if self.lost > 0 && self.rest.is_empty() {
            let lost = take(&mut self.lost);
            self.append((say(lost) + "\n").as_bytes());
            if self.lost > 0 {
                self.lost = lost;
            }
        }
    }

    fn append(&mut self, records: &[u8]) {
        let rest = take(&mut self.rest);
        let written = self.try_write(&rest);
        if written < rest.len() {
            self.rest = rest[written..].to_vec();
            self.lost += count(records);
            return;
        }
        let (written, left) = records.split_at(self.try_write(records));
        let is_whole = written.is_empty() || written.ends_with(b"\n");
        let end = left.iter().position(|byte| *byte == b'\n').map_or(left.len(), |end| end + 1);
        let (rest, lost) = left.split_at(if is_whole { 0 } else { end });
        self.rest = rest.to_vec();
        self.lost += count(lost);
    }

    /// Returns how many bytes were written before an error. There is no place to report the error.
    fn try_write(&mut self, bytes: &[u8]) -> usize {
        let mut written = 0;
        while written < bytes.len() {
            match self.to.write(&bytes[written..]) {
                Ok(0) => break,
                Ok(more) => written += more,
                Err(error) if error.kind() == ErrorKind::WouldBlock => sleep(PAUSE),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        written
    }
}

/// How many records these are.
fn count(records: &[u8]) -> u64 {
    records.split(|byte| *byte == b'\n').count() as u64 - 1
}

#[cfg(test)]
mod tests;
