//! How important a record is, in the words of the flag and of the log.

use clap::ValueEnum;
use slog::Level;

/// How important a record is.
#[derive(Clone, Copy, Debug, ValueEnum)]
#[expect(missing_docs, reason = "the names say it")]
pub enum LogLevel {
    Info,
    Warning,
    Error,
    Critical,
}

impl From<LogLevel> for Level {
    fn from(level: LogLevel) -> Self {
        match level {
            LogLevel::Info => Self::Info,
            LogLevel::Warning => Self::Warning,
            LogLevel::Error => Self::Error,
            LogLevel::Critical => Self::Critical,
        }
    }
}

/// The word for a level; it is the flag's, where the flag has one.
pub fn word(level: Level) -> &'static str {
    match level {
        Level::Critical => "critical",
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Info => "info",
        Level::Debug => "debug",
        Level::Trace => "trace",
    }
}
