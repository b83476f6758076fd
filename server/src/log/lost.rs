//! Records that are not written are counted, and the next line that is written says how many.
//!
//! slog-async's own `Async` reports drops too, but it counts each report that did not fit as one
//! more, and no metric can read its number. So the service wraps its `AsyncCore`.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use metrics::{counter, describe_counter};
use slog::{Drain, Level, Never, OwnedKVList, Record, b, record};
use slog_async::AsyncCore;

const LOST: &str = "plant_store_log_records_lost_total";

/// Registers the series.
pub fn register_metrics() {
    describe_counter!(
        LOST,
        "Records of the log that were not written: standard error took them too slowly, or failed."
    );
    counter!(LOST).increment(0);
}

/// How many records were lost since that was said.
#[derive(Default)]
pub struct Lost(AtomicU64);

impl Lost {
    fn count(&self) {
        self.0.fetch_add(1, Relaxed);
        counter!(LOST).increment(1);
    }
}

/// Sends records to the thread that writes, and counts those for which there is no room.
pub struct CountUnsent {
    pub core: AsyncCore,
    pub lost: Arc<Lost>,
}

impl Drain for CountUnsent {
    type Ok = ();
    type Err = Never;

    fn log(&self, record: &Record<'_>, values: &OwnedKVList) -> Result<(), Never> {
        if self.core.log(record, values).is_err() {
            self.lost.count();
        }
        Ok(())
    }
}

/// Writes records, counts those that cannot be written, and says how many were lost.
pub struct CountFailed<D> {
    pub drain: D,
    pub lost: Arc<Lost>,
}

impl<D: Drain<Ok = (), Err = io::Error>> Drain for CountFailed<D> {
    type Ok = ();
    type Err = Never;

    fn log(&self, record: &Record<'_>, values: &OwnedKVList) -> Result<(), Never> {
        let lost = self.lost.0.load(Relaxed);
        if lost > 0 {
            let text = format_args!("standard error did not take all records: records lost");
            let fields = b!("lost" => lost);
            if self.drain.log(&record!(Level::Warning, "", &text, fields), values).is_ok() {
                self.lost.0.fetch_sub(lost, Relaxed);
            }
        }
        if self.drain.log(record, values).is_err() {
            self.lost.count();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
