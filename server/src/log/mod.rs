//! The log, on standard error: JSON lines for programs, text for people.
//!
//! A request is one record ([`Access`]). Dropshot's own records pass through a filter that lets by
//! only what no [`Access`] says. Nothing here may print a token, a plant or the query of a URI.

mod access;
mod framework;
mod sink;

use std::sync::{Arc, Mutex};

use slog::{Drain, Level, LevelFilter, Logger, o};
use slog_term::{FullFormat, TermDecorator};

pub use access::Access;
use framework::Framework;
use sink::{Lines, Sink, Urgent};

/// How records are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// For people: each record as it happens, in colour where that is a terminal.
    Text,
    /// For programs: one JSON object a line, gathered and written ten times a second, and at once
    /// from a warning upwards.
    Json,
}

/// The running log. Dropping it writes out what is gathered, or gives up on a reader that does
/// not read.
pub struct Log {
    /// For records of the service itself.
    pub logger: Logger,
    /// For Dropshot.
    pub framework: Logger,
    sink: Option<Arc<Sink>>,
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
                let text = FullFormat::new(TermDecorator::new().stderr().build()).build();
                Ok(Self::new(Arc::new(Mutex::new(text).ignore_res()), None, level))
            }
            LogFormat::Json => {
                let sink = Sink::start()?;
                let json = slog_json::Json::new(Lines::new(Arc::clone(&sink)))
                    .add_default_keys()
                    .set_flush(true)
                    .build();
                let drain =
                    Urgent { drain: Mutex::new(json).ignore_res(), sink: Arc::clone(&sink) };
                Ok(Self::new(Arc::new(drain), Some(sink), level))
            }
        }
    }

    fn new<D>(drain: Arc<D>, sink: Option<Arc<Sink>>, level: Level) -> Self
    where
        D: Drain<Ok = (), Err = slog::Never> + Send + Sync + 'static,
        D: std::panic::RefUnwindSafe + std::panic::UnwindSafe,
    {
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
        if let Some(sink) = &self.sink {
            sink.flush();
        }
    }
}
