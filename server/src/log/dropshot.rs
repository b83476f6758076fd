//! Dropshot's records, filtered, with this log's names of their fields.
//!
//! Dropshot writes a record for every connection and every request, with the whole URI. The log
//! keeps the requests that never reach the operation (404, 405) and every warning; access records
//! say the rest already. A URI's query or user information must never pass: a client may have put
//! a token there (RFC 6750, section 2.3).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::{fmt, io};

use nix::errno::Errno;
use slog::{Drain, KV, Key, Level, Never, OwnedKVList, Record, RecordStatic, Serializer, b, o};

use crate::log::strangers::STRANGER;

/// How much of a method or a path a record holds, in bytes.
const LONGEST: usize = 200;

/// A drain that passes on the records that the service does not write itself.
pub struct Dropshot<D>(pub D);

impl<D: Drain<Ok = (), Err = Never>> Drain for Dropshot<D> {
    type Ok = ();
    type Err = Never;

    fn log(&self, record: &Record<'_>, values: &OwnedKVList) -> Result<(), Never> {
        if !record.level().is_at_least(Level::Warning) && !is_refusal(record) {
            return Ok(());
        }
        let mut fields = Fields::default();
        let _ = record.kv().serialize(record, &mut fields);
        let _ = values.serialize(record, &mut fields);
        let said = match record.msg().to_string() {
            said if said == "accept error" && fields.lacks_descriptors() => return Ok(()),
            // The first byte of every TLS record is its content type (RFC 8446, section 5.1).
            said if said.ends_with("InvalidContentType") => {
                format!("{said}: the client speaks something else, such as http instead of https")
            }
            said => said,
        };
        // Every request in a record of Dropshot's may be one without a token.
        let origin =
            RecordStatic { location: record.location(), tag: STRANGER, level: record.level() };
        self.0.log(&Record::new(&origin, &format_args!("{said}"), b!(fields)), &o!().into())
    }
}

/// Whether Dropshot itself refused the request: only then the record has a cause. This runs for
/// every request, so it copies nothing.
fn is_refusal(record: &Record<'_>) -> bool {
    struct Found(bool);

    impl Serializer for Found {
        fn emit_arguments(&mut self, key: Key, _: &fmt::Arguments<'_>) -> slog::Result {
            self.0 |= key.as_str() == "error_message_internal";
            Ok(())
        }
    }

    let mut found = Found(false);
    let _ = record.kv().serialize(record, &mut found);
    found.0
}

/// The fields of a record, as text.
#[derive(Default)]
struct Fields(BTreeMap<String, String>);

impl Fields {
    /// Dropshot repeats this ten times a second. The service says itself when there are as many
    /// connections as may be.
    fn lacks_descriptors(&self) -> bool {
        let lacks = io::Error::from(Errno::EMFILE).to_string();
        self.0.get("error") == Some(&lacks)
    }
}

impl Serializer for Fields {
    fn emit_arguments(&mut self, key: Key, value: &fmt::Arguments<'_>) -> slog::Result {
        self.0.insert(key.as_str().to_owned(), value.to_string());
        Ok(())
    }
}

impl KV for Fields {
    fn serialize(&self, _: &Record<'_>, serializer: &mut dyn Serializer) -> slog::Result {
        for (key, value) in &self.0 {
            match key.as_str() {
                "uri" => serializer.emit_str("path".into(), shortened(&path(value)))?,
                "method" => serializer.emit_str("method".into(), shortened(value))?,
                "error_message_internal" => serializer.emit_str("cause".into(), value)?,
                "response_code" => emit_number(serializer, "status", value)?,
                "latency_us" => emit_number(serializer, "latency_us", value)?,
                "error_message_external" | "local_addr" => {}
                other => serializer.emit_str(Key::from(other.to_owned()), value)?,
            }
        }
        Ok(())
    }
}

fn emit_number(serializer: &mut dyn Serializer, key: &'static str, value: &str) -> slog::Result {
    serializer.emit_u64(key.into(), value.parse().unwrap_or_default())
}

/// A request's target without its query and without its user information.
fn path(uri: &str) -> Cow<'_, str> {
    let path = uri.split('?').next().unwrap_or_default();
    match path.split_once("://") {
        Some((scheme, rest)) => {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            let host = authority.rsplit('@').next().unwrap_or_default();
            format!("{scheme}://{host}{path}").into()
        }
        None => path.into(),
    }
}

/// What a client sends may be long; the log has room for its beginning.
#[must_use]
pub fn shortened(text: &str) -> &str {
    &text[..text.floor_char_boundary(LONGEST)]
}
