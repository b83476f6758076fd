//! The log, on standard error: JSON lines for programs, text for people.
//!
//! Nothing here may print a token, a plant or the query of a URI.

mod dropshot;
mod sink;

use std::io;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

use chrono::{SecondsFormat, Utc};
use parking_lot::Mutex;
use slog::{
    Drain, FnValue, Level, LevelFilter, Logger, Never, OwnedKVList, PushFnValue, Record, o,
};
use slog_json::Json;
use slog_term::{FullFormat, PlainDecorator};

use crate::log::dropshot::Dropshot;
use crate::log::sink::{Lines, Sink};

/// How important a record is.
pub use slog::Level as LogLevel;

/// How records are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// For people: a line of words.
    Text,
    /// For programs: one JSON object a line.
    Json,
}

/// The running log. Dropping it writes the gathered records, or gives up after a second if standard
/// error takes nothing.
pub struct Log {
    /// For records of the service itself.
    pub logger: Logger,
    /// For Dropshot's records.
    pub dropshot: Logger,
    sink: Arc<Sink>,
}

impl Log {
    /// Starts a log of the records that are at least that important.
    ///
    /// # Errors
    ///
    /// The operating system gives no thread.
    pub fn start(format: LogFormat, level: LogLevel) -> io::Result<Self> {
        let sink = Arc::new(Sink::default());
        let is_text = format == LogFormat::Text;
        let lines = Lines { record: Vec::new(), is_text, sink: Arc::clone(&sink) };
        let into_sink =
            IntoSink { formatter: Mutex::new(formatter(format, lines)), sink: Arc::clone(&sink) };
        let drain = Arc::new(LevelFilter::new(into_sink, level).fuse());
        let logger = Logger::root(Arc::clone(&drain), o!());
        sink.start(logger.clone())?;
        Ok(Self { logger, dropshot: Logger::root(Dropshot(drain), o!()), sink })
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.sink.flush();
    }
}

type Formatter = Box<dyn Drain<Ok = (), Err = io::Error> + Send>;

fn formatter(format: LogFormat, lines: Lines) -> Formatter {
    if format == LogFormat::Text {
        return Box::new(FullFormat::new(PlainDecorator::new(lines)).build());
    }
    let now = |_: &Record<'_>| Utc::now().to_rfc3339_opts(SecondsFormat::Micros, true);
    // In the words of `--log-level`.
    let level = |record: &Record<'_>| record.level().as_str().to_ascii_lowercase();
    let msg = PushFnValue(|record: &Record<'_>, to| to.emit(record.msg()));
    let values = o!("ts" => FnValue(now), "level" => FnValue(level), "msg" => msg);
    Box::new(Json::new(lines).add_key_value(values).set_flush(true).build())
}

/// Formats the records into the sink, which writes at once from a warning upwards.
struct IntoSink {
    formatter: Mutex<Formatter>,
    sink: Arc<Sink>,
}

/// After a panic in a formatter, a record may be incomplete; the others are good.
impl UnwindSafe for IntoSink {}
impl RefUnwindSafe for IntoSink {}

impl Drain for IntoSink {
    type Ok = ();
    type Err = Never;

    fn log(&self, record: &Record<'_>, values: &OwnedKVList) -> Result<(), Never> {
        // The sink takes everything, so this fails only if a value cannot be formatted.
        let _ = self.formatter.lock().log(record, values);
        if record.level().is_at_least(Level::Warning) {
            self.sink.urge();
        }
        Ok(())
    }
}
