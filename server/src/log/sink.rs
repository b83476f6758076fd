//! From formatted records to standard error, off the requests' way.
//!
//! A record is appended to a buffer in memory; a thread writes the buffer out ten times a second
//! and whenever 64 KiB are gathered, because a system call for each record would cost more than
//! the request it speaks of. A standard error that nobody reads costs records, never requests,
//! and says how many.

use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use slog::{Drain, Level, Never, OwnedKVList, Record};

/// How long records are gathered.
const GATHER: Duration = Duration::from_millis(100);

/// How many bytes are gathered.
const ENOUGH: usize = 64 * 1024;

/// The most bytes that wait for a slow reader of standard error: some thousands of records.
const CAPACITY: usize = 1024 * 1024;

/// The buffer, and the thread that empties it.
pub struct Sink {
    pending: Mutex<Pending>,
    more: Condvar,
    /// The other buffer, empty: the two change places, so that neither grows anew. Whoever holds
    /// it is the one who writes.
    spare: Mutex<Vec<u8>>,
}

#[derive(Default)]
struct Pending {
    records: Vec<u8>,
    /// The records should not wait any longer.
    urgent: bool,
    /// Records that found no room.
    lost: u64,
}

impl Sink {
    /// Starts the thread, which ends with the process.
    pub fn start() -> io::Result<Arc<Self>> {
        let sink = Arc::new(Self {
            pending: Mutex::default(),
            more: Condvar::new(),
            spare: Mutex::default(),
        });
        let writer = Arc::clone(&sink);
        thread::Builder::new().name("log".into()).spawn(move || {
            loop {
                writer.wait();
                writer.write_out();
            }
        })?;
        Ok(sink)
    }

    /// Writes what is pending, in order with whoever else does.
    pub fn write_out(&self) {
        // Before the records are taken: two writers must not change their order.
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        let mut stderr = io::stderr().lock();
        let mut pending = self.lock();
        std::mem::swap(&mut pending.records, &mut *spare);
        let lost = std::mem::take(&mut pending.lost);
        pending.urgent = false;
        drop(pending);
        // Where standard error takes nothing there is nobody to tell.
        let _ = stderr.write_all(&spare);
        spare.clear();
        if lost > 0 {
            let _ = writeln!(
                stderr,
                r#"{{"level":"WARN","msg":"standard error was too slow: records lost","lost":{lost}}}"#,
            );
        }
    }

    fn wait(&self) {
        let nothing = |pending: &mut Pending| pending.records.is_empty();
        let calm = |pending: &mut Pending| !pending.urgent;
        let pending =
            self.more.wait_while(self.lock(), nothing).unwrap_or_else(PoisonError::into_inner);
        drop(self.more.wait_timeout_while(pending, GATHER, calm));
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
