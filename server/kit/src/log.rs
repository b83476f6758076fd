//! The log, on stderr: JSON lines for programs, text for people.
//!
//! A thread that logs formats its record into a [`Buffer`], with slog-json or slog-term. The log
//! thread writes the buffer to stderr, many records at a time. It must never hold the lock while it
//! writes: no other thread, and so no request, may wait for stderr. Nothing here may log a token, a
//! resource or the query of a URI.

use std::fs::File;
use std::io::{self, Write};
use std::mem::take;
use std::os::fd::AsFd;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use chrono::{SecondsFormat, Utc};
use nix::unistd::dup2_stderr;
use parking_lot::{Condvar, Mutex, MutexGuard};
use slog::{
    BorrowedKV, Drain, FnValue, Level, LevelFilter, Logger, Never, OwnedKVList, PushFnValue,
    Record, RecordStatic, b, o, record,
};
use slog_json::Json;
use slog_term::{FullFormat, PlainDecorator};

/// The severity of a record.
pub use slog::Level as LogLevel;

/// The size in bytes from which on the buffer drops records.
const CAPACITY: usize = 1024 * 1024;

/// The maximum number of bytes per `write`: the capacity of a pipe (pipe(7)).
const CHUNK: usize = 64 * 1024;

/// How long records are collected before they are written together. Waking the log thread and
/// calling `write` for each record would take a seventh of the CPU time of a create.
const COLLECT_TIME: Duration = Duration::from_millis(10);

/// How long the process waits for stderr before it exits.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// The format of the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// For people: a line of text for each record
    Text,
    /// For programs: a JSON object on a line of its own for each record
    Json,
}

impl LogFormat {
    /// Appends a record and a line break.
    fn write(self, to: &mut Vec<u8>, record: &Record<'_>, values: &OwnedKVList) -> io::Result<()> {
        if self == Self::Text {
            return FullFormat::new(PlainDecorator::new(to)).build().log(record, values);
        }
        let now = |_: &Record<'_>| Utc::now().to_rfc3339_opts(SecondsFormat::Micros, true);
        // As `--log-level` spells it.
        let level = |record: &Record<'_>| record.level().as_str().to_ascii_lowercase();
        let msg = PushFnValue(|record: &Record<'_>, to| to.emit(record.msg()));
        let fields = o!("ts" => FnValue(now), "level" => FnValue(level), "msg" => msg);
        Json::new(to).add_key_value(fields).build().log(record, values)
    }
}

/// The running log. Dropping it writes the buffered records, but gives up after a second if stderr
/// blocks.
pub struct Log {
    /// The logger of the service itself.
    pub logger: Logger,
    /// The logger for Dropshot.
    pub dropshot: Logger,
    buffer: Arc<Buffer>,
    /// Disconnects when the log thread ends.
    thread_end: mpsc::Receiver<()>,
}

impl Log {
    /// Starts a log of the records that are at least as severe as `level`.
    ///
    /// # Errors
    ///
    /// The descriptor of stderr cannot be duplicated, or the log thread cannot be started.
    pub fn start(format: LogFormat, level: LogLevel) -> io::Result<Self> {
        // A descriptor of its own, because `drop` may redirect descriptor 2 to /dev/null.
        let stderr = File::from(io::stderr().as_fd().try_clone_to_owned()?);
        let buffer = Arc::new(Buffer::new(format));
        let (running, thread_end) = mpsc::channel::<()>();
        let writer = Arc::clone(&buffer);
        thread::Builder::new().name("log".into()).spawn(move || {
            writer.write_to(stderr);
            drop(running);
        })?;
        let drain = LevelFilter::new(Arc::clone(&buffer), level).ignore_res();
        let logger = Logger::root(drain, o!());
        let dropshot = Logger::root(Dropshot(logger.clone()), o!());
        Ok(Self { logger, dropshot, buffer, thread_end })
    }
}

impl Drop for Log {
    /// If the records cannot be written in time, redirects stderr to /dev/null, so that no later
    /// line can block the exit of the process.
    fn drop(&mut self) {
        self.buffer.end();
        if self.thread_end.recv_timeout(FLUSH_TIMEOUT) == Err(RecvTimeoutError::Timeout) {
            let _ = File::options().write(true).open("/dev/null").map(dup2_stderr);
        }
    }
}

/// A filter for Dropshot's records. Logs its errors as errors and its warnings at `debug`, without
/// the fields of the request, and drops the rest.
///
/// Anybody who can connect can cause any number of warnings: by disconnecting before the answer, by
/// failing the TLS handshake, or by opening more connections than the process may have files open.
struct Dropshot(Logger);

impl Drain for Dropshot {
    type Ok = ();
    type Err = Never;

    fn log(&self, record: &Record<'_>, _: &OwnedKVList) -> Result<(), Never> {
        let level = match record.level() {
            Level::Critical | Level::Error => record.level(),
            Level::Warning => Level::Debug,
            Level::Info | Level::Debug | Level::Trace => return Ok(()),
        };
        let origin = RecordStatic { location: record.location(), tag: record.tag(), level };
        // Without the fields of the request, because the query of a URI may contain a token (RFC
        // 6750, section 2.3).
        self.0.log(&Record::new(&origin, record.msg(), BorrowedKV(&record.kv())));
        Ok(())
    }
}

/// A drain that collects formatted records. [`Buffer::write_to`] writes them.
struct Buffer {
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
    fn new(format: LogFormat) -> Self {
        // Untouched capacity takes no memory.
        let state = State { lines: Vec::with_capacity(CAPACITY), ..State::default() };
        Self { format, state: AssertUnwindSafe(Mutex::new(state)), changed: Condvar::new() }
    }

    /// Writes records until [`Buffer::end`] is called, and retries failed writes. Then writes the
    /// remaining records and returns, even if a write fails.
    fn write_to(&self, mut stderr: impl Write) {
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
    fn end(&self) {
        let mut state = self.state.lock();
        state.has_ended = true;
        state.is_urgent = true;
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
mod tests {
    use std::io::ErrorKind;

    use slog::info;

    use super::*;

    /// A disk with `free` bytes of free space.
    #[derive(Default)]
    struct Disk {
        written: Vec<u8>,
        free: usize,
    }

    impl Write for &mut Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let taken = bytes.len().min(self.free);
            if taken == 0 {
                return Err(ErrorKind::StorageFull.into());
            }
            self.free -= taken;
            self.written.extend_from_slice(&bytes[..taken]);
            Ok(taken)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn records_refused_by_a_full_disk_are_written_later() {
        for format in [LogFormat::Json, LogFormat::Text] {
            let mut disk = Disk::default();
            let buffer = Arc::new(Buffer::new(format));
            let log = Logger::root(Arc::clone(&buffer).ignore_res(), o!());
            buffer.end();
            for (free, text) in [(9, "one"), (0, "two"), (999, "three")] {
                disk.free = free;
                info!(log, "{text}");
                buffer.write_to(&mut disk);
            }
            let written = String::from_utf8(disk.written).expect("text");
            let lines: Vec<&str> = written.lines().collect();
            let [one, two, three] = &lines[..] else { panic!("not three lines: {written}") };
            for (line, text) in [(one, "one"), (two, "two"), (three, "three")] {
                assert!(line.contains(text), "{written}");
                assert!(format == LogFormat::Text || line.starts_with('{'), "{written}");
            }
        }
    }
}
