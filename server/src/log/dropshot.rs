//! Dropshot's own records: warnings and errors alone, without the fields of a request.

use slog::{BorrowedKV, Drain, Level, Never, OwnedKVList, Record, RecordStatic, o};

/// A drain that passes on Dropshot's errors, and its warnings at `debug`: everybody who can connect
/// may cause each of them, as often as they like.
pub struct Dropshot<D>(pub D);

impl<D: Drain<Ok = (), Err = Never>> Drain for Dropshot<D> {
    type Ok = ();
    type Err = Never;

    fn log(&self, record: &Record<'_>, _: &OwnedKVList) -> Result<(), Never> {
        let level = match record.level() {
            Level::Critical => Level::Critical,
            Level::Error => Level::Error,
            Level::Warning => Level::Debug,
            Level::Info | Level::Debug | Level::Trace => return Ok(()),
        };
        let origin = RecordStatic { location: record.location(), tag: record.tag(), level };
        // The fields of the request are left out: the query of a URI may be a token (RFC 6750,
        // section 2.3).
        self.0.log(&Record::new(&origin, record.msg(), BorrowedKV(&record.kv())), &o!().into())
    }
}
