//! The formats of the log: JSON by slog-json, text by slog-term.

use std::io;

use chrono::{SecondsFormat, Utc};
use slog::{Drain, FnValue, OwnedKVList, PushFnValue, Record, o};
use slog_json::Json;
use slog_term::{FullFormat, PlainDecorator};

/// The format of the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// For people: a line of text for each record
    Text,
    /// For programs: a JSON object on a line of its own for each record
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
        // As `--log-level` spells it.
        let level = |record: &Record<'_>| record.level().as_str().to_ascii_lowercase();
        let msg = PushFnValue(|record: &Record<'_>, to| to.emit(record.msg()));
        let fields = o!("ts" => FnValue(now), "level" => FnValue(level), "msg" => msg);
        Json::new(to).add_key_value(fields).build().log(record, values)
    }
}
