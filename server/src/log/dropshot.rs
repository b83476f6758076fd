//! Dropshot's records, filtered, with this log's names of their fields.
//!
//! Dropshot writes a record for every connection and every request, with the whole URI. The log
//! keeps the requests that never reach the operation (404, 405) and every warning; access records
//! say the rest already. A URI's query must never pass: a client may have put a token there
//! (RFC 6750, section 2.3).

use std::collections::BTreeMap;
use std::fmt;

use slog::{Drain, KV, Key, Level, Never, OwnedKVList, Record, RecordStatic, Serializer, b, o};

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
        let origin =
            RecordStatic { location: record.location(), tag: record.tag(), level: record.level() };
        self.0.log(&Record::new(&origin, record.msg(), b!(fields)), &o!().into())
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

impl Serializer for Fields {
    fn emit_arguments(&mut self, key: Key, value: &fmt::Arguments<'_>) -> slog::Result {
        self.0.insert(key.as_str().to_owned(), value.to_string());
        Ok(())
    }
}

impl KV for Fields {
    fn serialize(&self, _: &Record<'_>, serializer: &mut dyn Serializer) -> slog::Result {
        for (key, value) in &self.0 {
            let (key, value) = match key.as_str() {
                "uri" => ("path", value.split('?').next().unwrap_or_default()),
                "response_code" => ("status", value.as_str()),
                "error_message_internal" => ("cause", value.as_str()),
                "error_message_external" | "local_addr" => continue,
                _ => (key.as_str(), value.as_str()),
            };
            match value.parse() {
                Ok(number) => serializer.emit_u64(Key::from(key.to_owned()), number)?,
                Err(_) => serializer.emit_str(Key::from(key.to_owned()), value)?,
            }
        }
        Ok(())
    }
}
