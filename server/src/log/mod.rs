//! The log, on standard error: JSON lines for programs, text for people.
//!
//! slog-async takes the records to a thread of its own, where slog-json or slog-term writes them,
//! so no request waits for standard error. It drops the records for which there is no room, and
//! reports that.
//!
//! Nothing here may print a token, a plant or the query of a URI.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use chrono::{SecondsFormat, Utc};
use nix::unistd::dup2_stderr;
use slog::{
    BorrowedKV, Drain, FnValue, Level, LevelFilter, Logger, Never, OwnedKVList, PushFnValue,
    Record, RecordStatic, o,
};
use slog_async::{Async, AsyncGuard, OverflowStrategy};
use slog_json::Json;
use slog_term::{FullFormat, PlainDecorator};

/// How important a record is.
pub use slog::Level as LogLevel;

/// How many records may wait for the thread that writes. A record takes about 1 KB.
const WAITING: usize = 4096;

/// How long the end of the process waits for standard error.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// How records are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// For people: a line of words.
    Text,
    /// For programs: one JSON object a line.
    Json,
}

/// The running log. Dropping it writes the records that wait, or gives up after a second if
/// standard error takes nothing.
pub struct Log {
    /// For records of the service itself.
    pub logger: Logger,
    /// For Dropshot's records.
    pub dropshot: Logger,
    /// Writes what waits when it is dropped. There until then.
    guard: Option<AsyncGuard>,
}

impl Log {
    /// Starts a log of the records that are at least that important.
    ///
    /// # Errors
    ///
    /// The operating system gives no copy of standard error.
    pub fn start(format: LogFormat, level: LogLevel) -> io::Result<Self> {
        // A descriptor of its own: `drop` may point the other one at /dev/null.
        let stderr = File::from(io::stderr().as_fd().try_clone_to_owned()?);
        // A record that cannot be written, such as to a full disk, must not end this thread.
        let writing = formatter(format, stderr).ignore_res();
        let (sending, guard) = Async::new(writing)
            .chan_size(WAITING)
            .overflow_strategy(OverflowStrategy::DropAndReport)
            .thread_name("log".into())
            .build_with_guard();
        let drain = Arc::new(LevelFilter::new(sending, level).ignore_res());
        let logger = Logger::root(Arc::clone(&drain), o!());
        Ok(Self { logger, dropshot: Logger::root(Dropshot(drain), o!()), guard: Some(guard) })
    }
}

impl Drop for Log {
    /// If the records are not written in time, standard error becomes /dev/null, so that no later
    /// line can block the end of the process.
    fn drop(&mut self) {
        let guard = self.guard.take();
        let (writing, written) = mpsc::channel::<()>();
        thread::spawn(move || {
            drop(guard);
            drop(writing);
        });
        if written.recv_timeout(FLUSH_TIMEOUT) == Err(RecvTimeoutError::Timeout) {
            let _ = File::options().write(true).open("/dev/null").map(dup2_stderr);
        }
    }
}

/// Dropshot's own records: its errors, and at `debug` its warnings, without the fields of a
/// request. The others are dropped.
///
/// Everybody who can connect may cause its warnings, as often as they like: a client that leaves
/// before its answer, a TLS handshake that fails, a connection for which no file is left.
struct Dropshot<D>(D);

impl<D: Drain<Ok = (), Err = Never>> Drain for Dropshot<D> {
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
        self.0.log(&Record::new(&origin, record.msg(), BorrowedKV(&record.kv())), &o!().into())
    }
}

type Formatter = Box<dyn Drain<Ok = (), Err = io::Error> + Send>;

/// Each record is flushed when it is complete, so it is one system call. What could not be written
/// of it is written before the next one.
fn formatter(format: LogFormat, to: impl Write + Send + 'static) -> Formatter {
    let to = BufWriter::new(to);
    if format == LogFormat::Text {
        return Box::new(FullFormat::new(PlainDecorator::new(to)).build());
    }
    let now = |_: &Record<'_>| Utc::now().to_rfc3339_opts(SecondsFormat::Micros, true);
    // In the words of `--log-level`.
    let level = |record: &Record<'_>| record.level().as_str().to_ascii_lowercase();
    let msg = PushFnValue(|record: &Record<'_>, to| to.emit(record.msg()));
    let values = o!("ts" => FnValue(now), "level" => FnValue(level), "msg" => msg);
    Box::new(Json::new(to).add_key_value(values).set_flush(true).build())
}

#[cfg(test)]
mod tests;
