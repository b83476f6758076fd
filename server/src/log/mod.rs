//! The log, on standard error: JSON lines for programs, text for people.
//!
//! Nothing here may print a token, a plant or the query of a URI.

mod dropshot;
mod lasting;
mod sink;

use std::cell::RefCell;
use std::io::{self, Write};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

use chrono::{SecondsFormat, Utc};
use parking_lot::Mutex;
use slog::{
    Drain, FnValue, Level, LevelFilter, Logger, Never, OwnedKVList, PushFnValue, Record,
    SendSyncRefUnwindSafeDrain, o,
};
use slog_json::Json;
use slog_term::{FullFormat, PlainDecorator};

use crate::log::dropshot::Dropshot;
use crate::log::sink::Sink;

pub use crate::log::dropshot::shortened;
pub use crate::log::lasting::Lasting;

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
    pub dropshot: Arc<dyn SendSyncRefUnwindSafeDrain<Ok = (), Err = Never>>,
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
        let formatted =
            Formatted { format: formatter(is_text).into(), is_text, sink: Arc::clone(&sink) };
        let drain = Arc::new(LevelFilter::new(formatted, level).fuse());
        let logger = Logger::root(Arc::clone(&drain), o!());
        sink.start(logger.clone())?;
        Ok(Self { logger, dropshot: Arc::new(Dropshot(drain)), sink })
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.sink.flush();
    }
}

type Formatter = Box<dyn Drain<Ok = (), Err = io::Error> + Send>;

fn formatter(is_text: bool) -> Formatter {
    if is_text {
        return Box::new(FullFormat::new(PlainDecorator::new(Line)).build());
    }
    let now = |_: &Record<'_>| Utc::now().to_rfc3339_opts(SecondsFormat::Micros, true);
    // In the words of `--log-level`.
    let level = |record: &Record<'_>| record.level().as_str().to_ascii_lowercase();
    let msg = PushFnValue(|record: &Record<'_>, to| to.emit(record.msg()));
    let values = o!("ts" => FnValue(now), "level" => FnValue(level), "msg" => msg);
    Box::new(Json::new(Line).add_key_value(values).build())
}

thread_local! {
    /// The record that this thread formats.
    static RECORD: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Where a formatter writes.
struct Line;

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        RECORD.with_borrow_mut(|record| record.extend_from_slice(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Formats the records into the sink, which writes at once from a warning upwards.
struct Formatted {
    format: Mutex<Formatter>,
    /// Text does not escape what it prints, and is read on a terminal.
    is_text: bool,
    sink: Arc<Sink>,
}

/// After a panic in a formatter, a record may be incomplete; the others are good.
impl UnwindSafe for Formatted {}
impl RefUnwindSafe for Formatted {}

impl Drain for Formatted {
    type Ok = ();
    type Err = Never;

    fn log(&self, record: &Record<'_>, values: &OwnedKVList) -> Result<(), Never> {
        RECORD.with_borrow_mut(Vec::clear);
        // Fails only if a value cannot be formatted.
        let _ = self.format.lock().log(record, values);
        let is_urgent = record.level().is_at_least(Level::Warning);
        RECORD.with_borrow(|line| match self.is_text {
            true => self.sink.append(escaped(line).as_bytes(), is_urgent),
            false => self.sink.append(line, is_urgent),
        });
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
