//! Dropshot's own records, without the fields of a request: its errors, and at `debug` its
//! warnings. The others are dropped.
//!
//! Everybody who can connect may cause its warnings, as often as they like: a client that leaves
//! before its answer, a TLS handshake that fails, a connection for which no file is left.

use slog::{BorrowedKV, Drain, Level, Never, OwnedKVList, Record, RecordStatic, o};

/// A drain that passes on Dropshot's errors, and its warnings at `debug`: everybody who can connect
/// may cause each of them, as often as they like.
pub struct Dropshot<D>(pub D);

impl<D: Drain<Ok = (), Err = Never>> Drain for Dropshot<D> {
    type Ok = ();
    type Err = Never;

    fn log(&self, record: &Record<'_>, _: &OwnedKVList) -> Result<(), Never> {
        let level = match record.level() {
            Level::Critical | Level::Error => record.level(),
            Level::Warning => Level::Debug,
            Level::Info | Level::Debug | Level::Trace => return Ok(()),
        };
        let origin = RecordStatic { location: record.location(), tag: record.tag(), level };
        // The fields of the request are left out: the query of a URI may be a token (RFC 6750,
        // section 2.3).
        self.0.log(&Record::new(&origin, record.msg(), BorrowedKV(&record.kv())), &o!().into())
    }
}
