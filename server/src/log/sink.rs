//! The buffer between formatted records and standard error.
//!
//! A record is appended to a buffer in memory. A thread writes the buffer out ten times a second,
//! and at once when it holds 64 KiB: a system call for each record would cost more than the request
//! that it describes. If standard error is read too slowly, records are dropped and counted. No
//! request waits for it, and the end of the process waits for a second at most.
//!
//! Only that thread may wait for standard error.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use nix::unistd::dup2_stderr;
use slog::{Drain, Level, Never, OwnedKVList, Record};

use crate::log::output::Output;

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
    /// Signals that there is something to write, or that it has become urgent.
    more: Condvar,
    /// Signals that what was taken is written.
    written: Condvar,
}

#[derive(Default)]
struct Pending {
    records: Vec<u8>,
    /// Whether the records are to be written at once.
    urgent: bool,
    /// How many records did not fit into the buffer.
    lost: u64,
    /// Whether records were taken that are not written yet.
    writing: bool,
}

impl Sink {
    /// Starts the thread, which ends with the process; `say` makes a record of how many were lost.
    ///
    /// # Errors
    ///
    /// The operating system gives no thread, or no copy of standard error.
    pub fn start(say: fn(u64) -> String) -> io::Result<Arc<Self>> {
        // A descriptor of its own: `flush` may point the other one at /dev/null.
        let mut stderr = Output::new(File::from(io::stderr().as_fd().try_clone_to_owned()?));
        let sink = Arc::new(Self::default());
        let writer = Arc::clone(&sink);
        thread::Builder::new().name("log".into()).spawn(move || {
            // `take` swaps the two buffers, so each keeps its memory.
            let mut records = Vec::new();
            loop {
                let lost = writer.take(&mut records);
                stderr.write(&records, lost, say);
                records.clear();
                writer.wrote();
            }
        })?;
        Ok(sink)
    }

    /// Waits until what is pending is written, for a second at most. After that standard error is
    /// /dev/null, so that no later line can block the end of the process.
    pub fn flush(&self) {
        let unwritten = |pending: &mut Pending| pending.writing || !pending.records.is_empty();
        let mut pending = self.lock();
        pending.urgent = true;
        self.more.notify_one();
        let (_pending, waited) = self
            .written
            .wait_timeout_while(pending, FLUSH_TIMEOUT, unwritten)
            .unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() {
            let _ = File::options().write(true).open("/dev/null").map(dup2_stderr);
        }
    }

    /// Takes what is gathered, when it is time to write it, and leaves an empty buffer. Returns how
    /// many records were lost.
    fn take(&self, records: &mut Vec<u8>) -> u64 {
        let nothing = |pending: &mut Pending| pending.records.is_empty();
        let calm = |pending: &mut Pending| !pending.urgent;
        let pending =
            self.more.wait_while(self.lock(), nothing).unwrap_or_else(PoisonError::into_inner);
        let (mut pending, _) = self
            .more
            .wait_timeout_while(pending, GATHER, calm)
            .unwrap_or_else(PoisonError::into_inner);
        std::mem::swap(&mut pending.records, records);
        pending.urgent = false;
        pending.writing = true;
        std::mem::take(&mut pending.lost)
    }

    fn wrote(&self) {
        self.lock().writing = false;
        self.written.notify_all();
    }

    fn append(&self, record: &[u8]) {
        let mut pending = self.lock();
        if pending.records.len() + record.len() > CAPACITY {
            pending.lost += 1;
            return;
        }
        let first = pending.records.is_empty();
        pending.records.extend_from_slice(record);
        let enough = !pending.urgent && pending.records.len() >= ENOUGH;
        pending.urgent |= enough;
        drop(pending);
        if first || enough {
            self.more.notify_one();
        }
    }

    fn urge(&self) {
        self.lock().urgent = true;
        self.more.notify_one();
    }

    /// After a panic inside the lock, a record may be incomplete; the other bytes are good.
    fn lock(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where a formatter writes. A record reaches the sink whole, when the formatter flushes.
pub struct Lines {
    record: Vec<u8>,
    sink: Arc<Sink>,
    /// Whether characters that a terminal obeys are escaped.
    printable: bool,
}

impl Lines {
    pub fn new(sink: Arc<Sink>) -> Self {
        Self { record: Vec::new(), sink, printable: false }
    }

    /// For a format that is read on a terminal and does not escape what it prints.
    pub fn printable(sink: Arc<Sink>) -> Self {
        Self { printable: true, ..Self::new(sink) }
    }
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.record.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.printable {
            self.record = escape(&self.record);
        }
        self.sink.append(&self.record);
        self.record.clear();
        Ok(())
    }
}

/// A line in which control characters, line separators, changes of the direction of writing and all
/// else that is not printed are escaped: a client may have sent them.
fn escape(line: &[u8]) -> Vec<u8> {
    // Rust's `Debug` writes as `\u{…}` what no font shows, and with one backslash a quote or a tab.
    let obeyed = |letter: char| letter.is_control() || letter.escape_debug().len() > 2;
    let text = String::from_utf8_lossy(line);
    let (text, end) = match text.strip_suffix('\n') {
        Some(text) => (text, "\n"),
        None => (&*text, ""),
    };
    let mut escaped = String::with_capacity(line.len());
    for letter in text.chars() {
        match obeyed(letter) {
            true => escaped.extend(letter.escape_unicode()),
            false => escaped.push(letter),
        }
    }
    (escaped + end).into_bytes()
}

/// A drain that makes the sink write at once from a warning upwards.
pub struct Urgent<D> {
    pub drain: D,
    pub sink: Arc<Sink>,
}

impl<D: Drain<Ok = (), Err = Never>> Drain for Urgent<D> {
    type Ok = ();
    type Err = Never;

    fn log(&self, record: &Record<'_>, values: &OwnedKVList) -> Result<(), Never> {
        self.drain.log(record, values)?;
        if record.level().is_at_least(Level::Warning) {
            self.sink.urge();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
