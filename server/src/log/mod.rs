//! The log, on standard error: JSON lines for programs, text for people.
//!
//! A request is one record ([`Access`]). Dropshot's own records pass through a filter that lets by
//! only what no [`Access`] says. Nothing here may print a token, a plant or the query of a URI.

mod access;
mod framework;
mod sink;

use std::sync::{Arc, Mutex};

use slog::{Drain, Level, LevelFilter, Logger, o};
use slog_term::{FullFormat, PlainDecorator};

pub use access::Access;
use framework::Framework;
use sink::{Lines, Sink, Urgent};

/// What becomes of records that find no room.
const TOO_SLOW: &str = "standard error was too slow: records lost";

/// How records are written: gathered, ten times a second, and at once from a warning upwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// For people: a line of words.
    Text,
    /// For programs: one JSON object a line.
    Json,
}

/// The running log. Dropping it writes out what is gathered, or gives up on a reader that does
/// not read.
pub struct Log {
    /// For records of the service itself.
    pub logger: Logger,
    /// For Dropshot.
    pub framework: Logger,
    sink: Arc<Sink>,
}

impl Log {
    /// Starts a log that says what is at least that important.
    ///
    /// # Errors
    ///
    /// Where the operating system gives no thread.
    pub fn start(format: LogFormat, level: Level) -> std::io::Result<Self> {
        match format {
            LogFormat::Text => {
                let sink = Sink::start(|lost| format!("WARN {TOO_SLOW}, lost: {lost}"))?;
                let lines = PlainDecorator::new(Lines::new(Arc::clone(&sink)));
                Ok(Self::new(FullFormat::new(lines).build(), sink, level))
            }
            LogFormat::Json => {
                let sink = Sink::start(|lost| {
                    serde_json::json!({ "level": "WARN", "msg": TOO_SLOW, "lost": lost })
                        .to_string()
                })?;
                let lines = Lines::new(Arc::clone(&sink));
                let json = slog_json::Json::new(lines).add_default_keys().set_flush(true).build();
                Ok(Self::new(json, sink, level))
            }
        }
    }

    fn new<D>(format: D, sink: Arc<Sink>, level: Level) -> Self
    where
        D: Drain<Ok = ()> + Send + 'static,
        D::Err: std::fmt::Debug,
    {
        let drain = Mutex::new(format).ignore_res();
        let drain = Arc::new(Urgent { drain, sink: Arc::clone(&sink) });
        let framework = Framework(Arc::clone(&drain));
        Self {
            logger: Logger::root(LevelFilter::new(drain, level).fuse(), o!()),
            framework: Logger::root(LevelFilter::new(framework, level).fuse(), o!()),
            sink,
        }
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.sink.flush();
    }
}
