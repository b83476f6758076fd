//! Dropshot's logger, which pauses the listener if accept(2) has failed.
//!
//! Nothing here knows a socket.

use std::sync::Arc;

use slog::{Drain, Level, Logger, Never, OwnedKVList, Record, SendSyncRefUnwindSafeDrain, o};

use crate::limit::ConnectionLimit;

/// What Dropshot says, in the loop that accepts, if accept(2) fails.
pub(crate) const ACCEPT_FAILED: &str = "accept error";

/// Takes Dropshot's records.
pub type Records = Arc<dyn SendSyncRefUnwindSafeDrain<Ok = (), Err = Never>>;

/// Takes Dropshot's records, and pauses the listener if accept(2) has failed.
struct PausingDrain {
    limit: Arc<ConnectionLimit>,
    records: Records,
}

impl ConnectionLimit {
    /// A logger for Dropshot, which writes to `records`. If Dropshot reports that accept(2) has
    /// failed, the logger pauses the listener before it returns: until then nothing is accepted.
    pub fn logger(self: &Arc<Self>, records: Records) -> Logger {
        Logger::root(PausingDrain { limit: Arc::clone(self), records }, o!())
    }
}

impl Drain for PausingDrain {
    type Ok = ();
    type Err = Never;

    fn log(&self, record: &Record<'_>, values: &OwnedKVList) -> Result<(), Never> {
        if record.msg().as_str() != Some(ACCEPT_FAILED) {
            return self.records.log(record, values);
        }
        // Dropshot repeats EMFILE ten times a second, and the service says itself that the limit is
        // reached.
        let is_known = self.limit.pause_after_failed_accept();
        if is_known { Ok(()) } else { self.records.log(record, values) }
    }

    fn is_enabled(&self, level: Level) -> bool {
        self.records.is_enabled(level)
    }
}
