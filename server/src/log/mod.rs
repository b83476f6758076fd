//! The log, on standard error: JSON lines for programs, text for people.
//!
//! slog-async takes the records to a thread of its own, where slog-json or slog-term writes them,
//! so no request waits for standard error. Records that are not written are counted.
//!
//! Nothing here may print a token, a plant or the query of a URI.

mod dropshot;
mod lost;

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use chrono::{SecondsFormat, Utc};
use nix::unistd::dup2_stderr;
use slog::{Drain, FnValue, LevelFilter, Logger, PushFnValue, Record, o};
use slog_async::{AsyncCore, AsyncGuard};
use slog_json::Json;
use slog_term::{FullFormat, PlainDecorator};

use crate::log::dropshot::Dropshot;
use crate::log::lost::{CountFailed, CountUnsent, Lost};

pub use crate::log::lost::register_metrics;

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
        let lost = Arc::<Lost>::default();
        let drain = formatter(format, Line { to: stderr, bytes: Vec::new() });
        let writing = CountFailed { drain, lost: Arc::clone(&lost) };
        let builder = AsyncCore::custom(writing).chan_size(WAITING).thread_name("log".into());
        let (core, guard) = builder.build_with_guard();
        let drain = Arc::new(LevelFilter::new(CountUnsent { core, lost }, level).fuse());
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

type Formatter = Box<dyn Drain<Ok = (), Err = io::Error> + Send>;

fn formatter(format: LogFormat, to: impl Write + Send + 'static) -> Formatter {
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

/// Gathers what a formatter writes, until it flushes: so a record is one system call. After an
/// error the rest of the line is dropped.
struct Line<W> {
    to: W,
    bytes: Vec<u8>,
}

impl<W: Write> Write for Line<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let written = self.to.write_all(&self.bytes);
        self.bytes.clear();
        written
    }
}
