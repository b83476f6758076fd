//! The buffer between formatted records and standard error.
//!
//! A thread writes the buffer out 100 ms after its first record, and at once if it holds 64 KiB or
//! a warning: a system call for each record would cost more than the request that it describes. If
//! standard error is read too slowly, records are dropped and counted. Only that thread may wait
//! for standard error; the end of the process waits for a second at most.

use std::fs::File;
use std::io::{self, Write};
use std::mem;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use nix::unistd::dup2_stderr;
use parking_lot::{Condvar, Mutex};
use slog::{Logger, warn};

/// How long records are gathered before they are written.
const GATHER: Duration = Duration::from_millis(100);

/// How many bytes are written without waiting for more.
const ENOUGH: usize = 64 * 1024;

/// The most bytes that wait for standard error: some thousands of records.
const CAPACITY: usize = 1024 * 1024;

/// How long the end of the process waits for standard error.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// The buffer between the records and the thread that writes them.
#[derive(Default)]
pub struct Sink {
    pending: Mutex<Pending>,
    /// Signals that there are records, that it has become urgent to write them, or that all are
    /// written.
    changed: Condvar,
}

#[derive(Default)]
struct Pending {
    records: Vec<u8>,
    /// Whether the records are to be written at once.
    is_urgent: bool,
    /// How many records were dropped since that was said.
    lost: u64,
    /// Whether records were taken that are not written yet.
    is_writing: bool,
    /// Whether the last write failed. It may have torn a line.
    has_failed: bool,
}

impl Sink {
    /// Starts the thread, which ends with the process. It tells `log` how many records were lost.
    ///
    /// # Errors
    ///
    /// The operating system gives no thread, or no copy of standard error.
    pub fn start(self: &Arc<Self>, log: Logger) -> io::Result<()> {
        // A descriptor of its own: `flush` may point the other one at /dev/null.
        let mut stderr = File::from(io::stderr().as_fd().try_clone_to_owned()?);
        let sink = Arc::clone(self);
        let mut records = Vec::new();
        let run = move || loop {
            sink.write(&mut stderr, &mut records, &log);
        };
        thread::Builder::new().name("log".into()).spawn(run).map(drop)
    }

    /// Waits for records, gathers more for a while, and writes them. Each of the two buffers keeps
    /// its memory. After an error all of it counts as lost, although some of it may be written.
    fn write(&self, to: &mut impl Write, records: &mut Vec<u8>, log: &Logger) {
        records.clear();
        let mut pending = self.pending.lock();
        self.changed.wait_while(&mut pending, |pending| pending.records.is_empty());
        self.changed.wait_while_for(&mut pending, |pending| !pending.is_urgent, GATHER);
        pending.is_urgent = false;
        pending.is_writing = true;
        mem::swap(&mut pending.records, records);
        let has_failed = pending.has_failed;
        let lost = if has_failed { 0 } else { mem::take(&mut pending.lost) };
        drop(pending);
        if lost > 0 {
            // The buffer takes it: it has just been emptied.
            warn!(log, "standard error did not take all records: records lost"; "lost" => lost);
        }
        let separator: &[u8] = if has_failed { b"\n" } else { b"" };
        let written = to.write_all(separator).and_then(|()| to.write_all(records));
        let mut pending = self.pending.lock();
        pending.has_failed = written.is_err();
        if pending.has_failed {
            pending.lost += records.split(|byte| *byte == b'\n').count() as u64 - 1;
        }
        pending.is_writing = false;
        self.changed.notify_all();
    }

    /// Waits until what is pending is written, for a second at most. If it is not written by then,
    /// standard error becomes /dev/null, so that no later line can block the end of the process.
    pub fn flush(&self) {
        self.urge();
        let is_left = |pending: &mut Pending| pending.is_writing || !pending.records.is_empty();
        let mut pending = self.pending.lock();
        if self.changed.wait_while_for(&mut pending, is_left, FLUSH_TIMEOUT).timed_out() {
            let _ = File::options().write(true).open("/dev/null").map(dup2_stderr);
        }
    }

    /// Has the records written at once.
    pub fn urge(&self) {
        self.pending.lock().is_urgent = true;
        self.changed.notify_all();
    }

    fn append(&self, record: &[u8]) {
        let mut pending = self.pending.lock();
        if pending.records.len() + record.len() > CAPACITY {
            pending.lost += 1;
            return;
        }
        let was_empty = pending.records.is_empty();
        pending.records.extend_from_slice(record);
        let is_enough = pending.records.len() >= ENOUGH;
        pending.is_urgent |= is_enough;
        if was_empty || is_enough {
            self.changed.notify_all();
        }
    }
}

/// Where a formatter writes. A record reaches the sink whole, when the formatter flushes.
pub struct Lines {
    pub record: Vec<u8>,
    /// Text does not escape what it prints, and is read on a terminal.
    pub is_text: bool,
    pub sink: Arc<Sink>,
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.record.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        // A formatter may flush twice.
        if self.record.is_empty() {
            return Ok(());
        }
        if self.is_text {
            self.sink.append(escaped(&self.record).as_bytes());
        } else {
            self.sink.append(&self.record);
        }
        self.record.clear();
        Ok(())
    }
}

/// A line in which what a terminal obeys or does not print is escaped: control characters, line
/// separators, changes of the direction of writing. A client may have sent them.
fn escaped(line: &[u8]) -> String {
    // Rust's `Debug` writes what no font shows as `\u{202e}`, which is longer than two characters;
    // a quote as `\"`, which is two; other letters as they are.
    let is_obeyed = |letter: char| letter.is_control() || letter.escape_debug().len() > 2;
    let mut text = String::with_capacity(line.len());
    for letter in String::from_utf8_lossy(line).trim_end_matches('\n').chars() {
        if is_obeyed(letter) {
            text.extend(letter.escape_unicode());
        } else {
            text.push(letter);
        }
    }
    text + "\n"
}

#[cfg(test)]
mod tests;
