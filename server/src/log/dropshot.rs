//! Dropshot's own records: warnings and errors alone, without the fields of a request.

use slog::{BorrowedKV, Drain, Level, Never, OwnedKVList, Record, RecordStatic, o};

/// How the warnings begin that everybody who can connect may cause, as often as they like.
const BY_STRANGERS: [&str; 2] = ["tls accept err", "request handling cancelled"];

/// A drain that passes on Dropshot's warnings and errors; those that strangers cause at `debug`.
pub struct Dropshot<D>(pub D);

impl<D: Drain<Ok = (), Err = Never>> Drain for Dropshot<D> {
    type Ok = ();
    type Err = Never;

    fn log(&self, record: &Record<'_>, _: &OwnedKVList) -> Result<(), Never> {
        let mut level = record.level();
        if !level.is_at_least(Level::Warning) {
            return Ok(());
        }
        let said = record.msg().to_string();
        if BY_STRANGERS.iter().any(|begin| said.starts_with(begin)) {
            level = Level::Debug;
        }
        let origin = RecordStatic { location: record.location(), tag: record.tag(), level };
        // The fields of the request are left out: the query of a URI may be a token (RFC 6750,
        // section 2.3).
        let text = format_args!("{said}");
        self.0.log(&Record::new(&origin, &text, BorrowedKV(&record.kv())), &o!().into())
    }
}
