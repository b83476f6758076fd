//! The formats of the log: JSON by slog-json, text by slog-term.

use std::io;

use chrono::{SecondsFormat, Utc};
use slog::{Drain, FnValue, OwnedKVList, PushFnValue, Record, o};
use slog_json::Json;
use slog_term::{FullFormat, PlainDecorator};

/// How records are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// For people: a line of words.
    Text,
    /// For programs: one JSON object a line.
    Json,
}

impl LogFormat {
    /// Appends a record and a line break.
    pub fn write(
        self,
        to: &mut Vec<u8>,
        record: &Record<'_>,
        values: &OwnedKVList,
    ) -> io::Result<()> {
        if self == Self::Text {
            return FullFormat::new(PlainDecorator::new(to)).build().log(record, values);
        }
        let now = |_: &Record<'_>| Utc::now().to_rfc3339_opts(SecondsFormat::Micros, true);
        // In the words of `--log-level`.
        let level = |record: &Record<'_>| record.level().as_str().to_ascii_lowercase();
        let msg = PushFnValue(|record: &Record<'_>, to| to.emit(record.msg()));
        let fields = o!("ts" => FnValue(now), "level" => FnValue(level), "msg" => msg);
        Json::new(to).add_key_value(fields).build().log(record, values)
    }
}
