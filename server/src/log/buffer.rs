//! A buffer of formatted records between the threads that log and stderr.
//!
//! The threads that log format their records into memory, and a thread of its own writes them, so
//! nothing in this module may make a thread that logs wait for stderr.

use std::io::{self, Write};
use std::mem::take;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use parking_lot::{Condvar, Mutex, MutexGuard};
use slog::{Drain, Level, OwnedKVList, Record, b, record};

use crate::log::format::LogFormat;

/// How many bytes may wait for stderr.
const CAPACITY: usize = 1024 * 1024;

/// How many bytes are written at a time: as many as a pipe holds (pipe(7)).
const CHUNK: usize = 64 * 1024;

/// How long records are gathered, to be written together. Waking the thread and calling `write` for
/// each record would take a seventh of the CPU time of a create.
const GATHER: Duration = Duration::from_millis(10);

/// A drain whose records are written to stderr by [`Buffer::write_to`].
pub struct Buffer {
    format: LogFormat,
    /// slog wants drains that a panic leaves usable, and a panic does not poison this mutex.
    state: AssertUnwindSafe<Mutex<State>>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// What stderr has not taken yet.
    lines: Vec<u8>,
    /// How many records found the buffer full since the last report of that.
    dropped: u64,
    /// Whether to write at once, without gathering more.
    is_urgent: bool,
    has_ended: bool,
}

impl Buffer {
    /// An empty buffer of records in that format.
    pub fn new(format: LogFormat) -> Self {
        // What is not used of the capacity takes no memory.
        let state = State { lines: Vec::with_capacity(CAPACITY), ..State::default() };
        Self { format, state: AssertUnwindSafe(Mutex::new(state)), changed: Condvar::new() }
    }

    /// Writes the records until [`Buffer::end`] is called and all are written, or stderr takes no
    /// more of them. Until then, what stderr refuses stays in the buffer.
    pub fn write_to(&self, mut stderr: impl Write) {
        let mut pause = GATHER;
        let mut chunk = Vec::new();
        let mut state = self.state.lock();
        loop {
            self.changed.wait_while(&mut state, |state| state.lines.is_empty() && !state.has_ended);
            self.changed.wait_while_for(&mut state, |state| !state.is_urgent, pause);
            state.is_urgent = state.has_ended;
            chunk.clear();
            chunk.extend_from_slice(&state.lines[..state.lines.len().min(CHUNK)]);
            let written = MutexGuard::unlocked(&mut state, || stderr.write(&chunk).unwrap_or(0));
            state.lines.drain(..written);
            if state.has_ended && (state.lines.is_empty() || written == 0) {
                return;
            }
            pause = if written == CHUNK { Duration::ZERO } else { GATHER };
        }
    }

    /// Lets [`Buffer::write_to`] write what is left, and return.
    pub fn end(&self) {
        let mut state = self.state.lock();
        (state.has_ended, state.is_urgent) = (true, true);
        self.changed.notify_one();
    }
}

impl Drain for Buffer {
    type Ok = ();
    type Err = io::Error;

    /// Drops the record if the buffer is full. A record before the next one that finds room says
    /// how many were dropped.
    fn log(&self, record: &Record<'_>, values: &OwnedKVList) -> io::Result<()> {
        let mut state = self.state.lock();
        if state.lines.len() >= CAPACITY {
            state.dropped += 1;
            return Ok(());
        }
        let was_empty = state.lines.is_empty();
        let dropped = take(&mut state.dropped);
        if dropped > 0 {
            let msg = format_args!("logger dropped messages, because stderr did not take them");
            let count = b!("count" => dropped);
            let report = record!(Level::Error, "", &msg, count);
            self.format.write(&mut state.lines, &report, values)?;
        }
        self.format.write(&mut state.lines, record, values)?;
        state.is_urgent |= record.level().is_at_least(Level::Warning);
        if was_empty || state.is_urgent {
            self.changed.notify_one();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
