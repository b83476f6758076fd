//! The log, on stderr: JSON lines for programs, text for people.
//!
//! slog-json or slog-term formats each record into a [`Buffer`], which a thread of its own writes to
//! stderr, so no request waits for stderr.
//!
//! Nothing here may print a token, a plant or the query of a URI.

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
/// How important a record is.
pub use slog::Level as LogLevel;

/// How long the end of the process waits for stderr.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// The running log. Dropping it writes the records that wait, or gives up after a second if
/// stderr takes nothing.
pub struct Log {
    /// For records of the service itself.
    pub logger: Logger,
    /// For Dropshot's records.
    pub dropshot: Logger,
    buffer: Arc<Buffer>,
    /// Disconnected when the thread that writes has ended.
    writing: mpsc::Receiver<()>,
}

impl Log {
    /// Starts a log of the records that are at least that important.
    ///
    /// # Errors
    ///
    /// The operating system gives no copy of stderr, or no thread.
    pub fn start(format: LogFormat, level: LogLevel) -> io::Result<Self> {
        // A descriptor of its own: `drop` may point the other one at /dev/null.
        let stderr = File::from(io::stderr().as_fd().try_clone_to_owned()?);
        let buffer = Arc::new(Buffer::new(format));
        let (ended, writing) = mpsc::channel::<()>();
        let writer = Arc::clone(&buffer);
        thread::Builder::new().name("log".into()).spawn(move || {
            writer.write_to(stderr);
            drop(ended);
        })?;
        let drain = LevelFilter::new(Arc::clone(&buffer), level).ignore_res();
        let logger = Logger::root(drain, o!());
        let dropshot = Logger::root(Dropshot(logger.clone()), o!());
        Ok(Self { logger, dropshot, buffer, writing })
    }
}

impl Drop for Log {
    /// If the records are not written in time, stderr becomes /dev/null, so that no later line can
    /// block the end of the process.
    fn drop(&mut self) {
        self.buffer.end();
        if self.writing.recv_timeout(FLUSH_TIMEOUT) == Err(RecvTimeoutError::Timeout) {
            let _ = File::options().write(true).open("/dev/null").map(dup2_stderr);
        }
    }
}

/// Dropshot's own records: its errors, and at `debug` its warnings, without the fields of a
/// request. The others are dropped.
///
/// Everybody who can connect may cause its warnings, as often as they like: a client that leaves
/// before its answer, a TLS handshake that fails, a connection for which no file is left.
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
        // The fields of the request are left out: the query of a URI may be a token (RFC 6750,
        // section 2.3).
        self.0.log(&Record::new(&origin, record.msg(), BorrowedKV(&record.kv())));
        Ok(())
    }
}
