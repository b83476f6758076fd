//! The buffer between formatted records and standard error.
//!
//! A thread writes the buffer out ten times a second, and at once if it holds 64 KiB or a warning: a
//! system call for each record would cost more than the request that it describes. If standard
//! error is read too slowly, records are dropped and counted. Only that thread may wait for standard
//! error; the end of the process waits for a second at most.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::mem::take;
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
    /// Signals that there is something to write, that it has become urgent, or that it is written.
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
        let (mut records, mut is_torn) = (Vec::new(), false);
        let run = move || loop {
            sink.take(&mut records);
            let lost = sink.wrote(write(&mut stderr, &records, &mut is_torn));
            if lost > 0 {
                warn!(log, "standard error did not take all records: records lost"; "lost" => lost);
            }
        };
        thread::Builder::new().name("log".into()).spawn(run).map(drop)
    }

    /// Waits until what is pending is written, for a second at most. After that standard error is
    /// /dev/null, so that no later line can block the end of the process.
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

    /// Takes what is gathered, when it is time to write it. Each of the two buffers keeps its memory.
    fn take(&self, records: &mut Vec<u8>) {
        records.clear();
        let mut pending = self.pending.lock();
        self.changed.wait_while(&mut pending, |pending| pending.records.is_empty());
        self.changed.wait_while_for(&mut pending, |pending| !pending.is_urgent, GATHER);
        std::mem::swap(&mut pending.records, records);
        (pending.is_urgent, pending.is_writing) = (false, true);
    }

    /// What was taken is written, but for so many records. Returns how many were lost, if that can
    /// be said now.
    fn wrote(&self, unwritten: u64) -> u64 {
        let mut pending = self.pending.lock();
        pending.lost += unwritten;
        let is_room = unwritten == 0 && pending.records.len() < CAPACITY / 2;
        let lost = if is_room { take(&mut pending.lost) } else { 0 };
        // The record that says it is written, too.
        pending.is_writing = lost > 0;
        self.changed.notify_all();
        lost
    }

    fn append(&self, record: &[u8]) {
        let mut pending = self.pending.lock();
        if pending.records.len() + record.len() > CAPACITY {
            pending.lost += 1;
            return;
        }
        let is_first = pending.records.is_empty();
        pending.records.extend_from_slice(record);
        let is_enough = !pending.is_urgent && pending.records.len() >= ENOUGH;
        pending.is_urgent |= is_enough;
        drop(pending);
        if is_first || is_enough {
            self.changed.notify_all();
        }
    }
}

/// Writes records. Returns how many of them were not written whole, because of an error, which there
/// is no place to report. `is_torn` says whether the last line that was written has no end.
fn write(to: &mut impl Write, mut records: &[u8], is_torn: &mut bool) -> u64 {
    while !records.is_empty() {
        match to.write(if *is_torn { b"\n" } else { records }) {
            Ok(0) => break,
            Ok(_) if *is_torn => *is_torn = false,
            Ok(count) => {
                *is_torn = records[count - 1] != b'\n';
                records = &records[count..];
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    records.split(|byte| *byte == b'\n').count() as u64 - 1
}

/// Where a formatter writes. A record reaches the sink whole, when the formatter flushes.
pub struct Lines {
    record: Vec<u8>,
    is_text: bool,
    sink: Arc<Sink>,
}

impl Lines {
    /// Text does not escape what it prints, and is read on a terminal.
    pub fn new(sink: Arc<Sink>, is_text: bool) -> Self {
        Self { record: Vec::new(), is_text, sink }
    }
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.record.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.is_text {
            // A formatter may flush twice.
            _ if self.record.is_empty() => {}
            true => self.sink.append(escaped(&self.record).as_bytes()),
            false => self.sink.append(&self.record),
        }
        self.record.clear();
        Ok(())
    }
}

/// A line in which what a terminal obeys or does not print is escaped: control characters, line
/// separators, changes of the direction of writing. A client may have sent them.
fn escaped(line: &[u8]) -> String {
    // Rust's `Debug` writes as `\u{…}` what no font shows, and with one backslash a quote or a tab.
    let is_obeyed = |letter: char| letter.is_control() || letter.escape_debug().len() > 2;
    let mut text = String::with_capacity(line.len());
    for letter in String::from_utf8_lossy(line).trim_end_matches('\n').chars() {
        match is_obeyed(letter) {
            true => text.extend(letter.escape_unicode()),
            false => text.push(letter),
        }
    }
    text + "\n"
}

#[cfg(test)]
mod tests;
