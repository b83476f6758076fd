//! The log, on standard error: JSON lines for programs, text for people.
//!
//! Dropshot's own records pass through a filter, `dropshot`, which drops what the service's
//! records say already. Nothing here may print a token, a plant or the query of a URI.

mod dropshot;
mod output;
mod sink;
mod strangers;

use std::sync::{Arc, Mutex};

use chrono::{SecondsFormat, Utc};
use serde_json::json;
use slog::{
    Drain, FnValue, Level, LevelFilter, Logger, Never, PushFnValue, Record,
    SendSyncRefUnwindSafeDrain, o,
};
use slog_term::{FullFormat, PlainDecorator};

use crate::log::dropshot::Dropshot;
use crate::log::sink::{Lines, Sink, Urgent};
use crate::log::strangers::LimitStrangers;

pub use crate::log::dropshot::shortened;
pub use crate::log::strangers::STRANGER;

/// How important a record is.
pub use slog::Level as LogLevel;

const LOST: &str = "standard error did not take all records: records lost";

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
    /// Starts a log of the records that are at least that important; of those with the tag
    /// [`STRANGER`], so many a second.
    ///
    /// # Errors
    ///
    /// The operating system gives no thread.
    pub fn start(format: LogFormat, level: LogLevel, strangers: u32) -> std::io::Result<Self> {
        match format {
            LogFormat::Text => {
                let sink = Sink::start(lost_as_text)?;
                let lines = PlainDecorator::new(Lines::printable(Arc::clone(&sink)));
                Ok(Self::new(FullFormat::new(lines).build(), sink, level, strangers))
            }
            LogFormat::Json => {
                let sink = Sink::start(lost_as_json)?;
                let json = slog_json::Json::new(Lines::new(Arc::clone(&sink)))
                    .add_key_value(o!(
                        "ts" => FnValue(|_: &Record<'_>| now()),
                        "level" => FnValue(|record: &Record<'_>| word(record.level())),
                        "msg" => PushFnValue(|record: &Record<'_>, to| to.emit(record.msg())),
                    ))
                    .set_flush(true)
                    .build();
                Ok(Self::new(json, sink, level, strangers))
            }
        }
    }

    fn new<D>(format: D, sink: Arc<Sink>, level: LogLevel, strangers: u32) -> Self
    where
        D: Drain<Ok = ()> + Send + 'static,
        D::Err: std::fmt::Debug,
    {
        let drain = Mutex::new(format).ignore_res();
        let drain = Urgent { drain, sink: Arc::clone(&sink) };
        let drain = Arc::new(LimitStrangers::new(drain, strangers));
        let dropshot = Dropshot(Arc::clone(&drain));
        Self {
            logger: Logger::root(LevelFilter::new(drain, level).fuse(), o!()),
            dropshot: Arc::new(LevelFilter::new(dropshot, level).fuse()),
            sink,
        }
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.sink.flush();
    }
}

/// The record that says how many records were not written.
fn lost_as_text(lost: u64) -> String {
    let mut time = Vec::new();
    // A `Vec` takes all bytes.
    let _ = slog_term::timestamp_local(&mut time);
    format!("{} WARN {LOST}, lost: {lost}", String::from_utf8_lossy(&time))
}

fn lost_as_json(lost: u64) -> String {
    json!({ "ts": now(), "level": word(Level::Warning), "msg": LOST, "lost": lost }).to_string()
}

/// A level in the words of `--log-level`.
fn word(level: Level) -> String {
    level.as_str().to_ascii_lowercase()
}

fn now() -> String {
    Utc::now().to_rfc3339_opts(SecondsFormat::Micros, true)
}
