//! A buffer between the threads that log and stderr.
//!
//! A thread that logs formats its record into the buffer. The log thread writes the buffer to
//! stderr, many records at a time. It must never hold the lock while it writes: no other thread may
//! wait for stderr.

use std::io::{self, Write};
use std::mem::take;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use parking_lot::{Condvar, Mutex, MutexGuard};
use slog::{Drain, Level, OwnedKVList, Record, b, record};

use crate::log::format::LogFormat;

/// The size in bytes from which on the buffer drops records.
const CAPACITY: usize = 1024 * 1024;

/// The maximum number of bytes per `write`: the capacity of a pipe (pipe(7)).
const CHUNK: usize = 64 * 1024;

/// How long records are collected before they are written together. Waking the log thread and
/// calling `write` for each record would take a seventh of the CPU time of a create.
const COLLECT_TIME: Duration = Duration::from_millis(10);

/// A drain that collects formatted records. [`Buffer::write_to`] writes them.
pub struct Buffer {
    format: LogFormat,
    /// slog requires drains that are unwind safe. A panic does not poison this mutex.
    state: AssertUnwindSafe<Mutex<State>>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The formatted records that have not been written yet.
    lines: Vec<u8>,
    /// The number of records dropped since the last report.
    dropped: u64,
    /// Whether to write at once instead of collecting more records.
    is_urgent: bool,
    has_ended: bool,
}

impl Buffer {
    /// Creates an empty buffer for records in this format.
    pub fn new(format: LogFormat) -> Self {
        // Untouched capacity takes no memory.
        let state = State { lines: Vec::with_capacity(CAPACITY), ..State::default() };
        Self { format, state: AssertUnwindSafe(Mutex::new(state)), changed: Condvar::new() }
    }

    /// Writes records until [`Buffer::end`] is called, and retries failed writes. Then writes the
    /// remaining records and returns, even if a write fails.
    pub fn write_to(&self, mut stderr: impl Write) {
        let mut pause = COLLECT_TIME;
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
            pause = if written == CHUNK { Duration::ZERO } else { COLLECT_TIME };
        }
    }

    /// Makes [`Buffer::write_to`] write the remaining records and return.
    pub fn end(&self) {
        let mut state = self.state.lock();
        (state.has_ended, state.is_urgent) = (true, true);
        self.changed.notify_one();
    }
}

impl Drain for Buffer {
    type Ok = ();
    type Err = io::Error;

    /// Formats the record into the buffer, or drops it if the buffer is full. The next record that
    /// fits is preceded by a report of how many records were dropped.
    fn log(&self, record: &Record<'_>, values: &OwnedKVList) -> io::Result<()> {
        let mut state = self.state.lock();
        if state.lines.len() >= CAPACITY {
            state.dropped += 1;
            return Ok(());
        }
        let was_empty = state.lines.is_empty();
        let dropped = take(&mut state.dropped);
        if dropped > 0 {
            let msg = format_args!("log records were dropped: standard error was full or blocked");
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
