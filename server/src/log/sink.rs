//! From formatted records to standard error, off the requests' way.
//!
//! A record is appended to a buffer in memory; a thread writes the buffer out ten times a second
//! and whenever 64 KiB are gathered, because a system call for each record would cost more than
//! the request it speaks of. A standard error that nobody reads costs records, never requests and
//! never the end of the process, and says how many.
//!
//! Nothing but that thread may wait for standard error.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use nix::unistd::dup2_stderr;
use slog::{Drain, Level, Never, OwnedKVList, Record};

/// How long records are gathered.
const GATHER: Duration = Duration::from_millis(100);

/// How many bytes are gathered.
const ENOUGH: usize = 64 * 1024;

/// The most bytes that wait for a slow reader of standard error: some thousands of records.
const CAPACITY: usize = 1024 * 1024;

/// How long a slow reader of standard error may hold up the end of the process.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// The buffer between the records and the thread that writes them.
#[derive(Default)]
pub struct Sink {
    pending: Mutex<Pending>,
    /// There is something to write, or reason to wait for no more of it.
    more: Condvar,
    /// What was taken has been written.
    written: Condvar,
}

#[derive(Default)]
struct Pending {
    records: Vec<u8>,
    /// The records should not wait any longer.
    urgent: bool,
    /// Records that found no room.
    lost: u64,
    /// Records were taken and are not written yet.
    writing: bool,
}

impl Sink {
    /// Starts the thread, which ends with the process; `say` makes a record of how many were lost.
    pub fn start(say: fn(u64) -> String) -> io::Result<Arc<Self>> {
        // A descriptor of its own, which waits where standard error no longer does.
        let mut stderr = File::from(io::stderr().as_fd().try_clone_to_owned()?);
        let sink = Arc::new(Self::default());
        let writer = Arc::clone(&sink);
        thread::Builder::new().name("log".into()).spawn(move || {
            // The two buffers change places, so that neither grows anew.
            let mut records = Vec::new();
            loop {
                let lost = writer.take(&mut records);
                if lost > 0 {
                    records.extend_from_slice(say(lost).as_bytes());
                    records.push(b'\n');
                }
                // Where standard error takes nothing there is nobody to tell.
                let _ = stderr.write_all(&records);
                records.clear();
                writer.wrote();
            }
        })?;
        Ok(sink)
    }

    /// Waits until what is pending has been written, but not long: a reader that does not read
    /// must not keep the process, and what else is printed goes nowhere then.
    pub fn flush(&self) {
        let unwritten = |pending: &mut Pending| pending.writing || !pending.records.is_empty();
        let mut pending = self.lock();
        pending.urgent = true;
        self.more.notify_one();
        let (_pending, waited) = self
            .written
            .wait_timeout_while(pending, LAST_WORDS, unwritten)
            .unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() {
            let _ = File::options().write(true).open("/dev/null").map(dup2_stderr);
        }
    }

    /// Takes what is gathered, once it is time, and leaves an empty buffer; returns how many
    /// records were lost.
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

    /// A half-written record would be a panic of ours; the bytes around it are still good.
    fn lock(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where a formatter writes: a record reaches the sink whole, when it is flushed.
pub struct Lines {
    record: Vec<u8>,
    sink: Arc<Sink>,
}

impl Lines {
    pub fn new(sink: Arc<Sink>) -> Self {
        Self { record: Vec::new(), sink }
    }
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.record.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.append(&self.record);
        self.record.clear();
        Ok(())
    }
}

/// A drain that does not let the sink sit on a warning.
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
