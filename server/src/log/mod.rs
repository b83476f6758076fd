//! The log, on stderr: JSON lines for programs, text for people.
//!
//! slog-json or slog-term formats each record into a [`Buffer`], which the log thread writes to
//! stderr.
//!
//! Nothing here may log a token, a plant or the query of a URI, and no request may wait for stderr.

mod buffer;
mod format;

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use nix::unistd::dup2_stderr;
use slog::{
    BorrowedKV, Drain, Level, LevelFilter, Logger, Never, OwnedKVList, Record, RecordStatic, o,
};

use crate::log::buffer::Buffer;

pub use crate::log::format::LogFormat;
/// The severity of a record.
pub use slog::Level as LogLevel;

/// How long the process waits for stderr before it exits.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

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
