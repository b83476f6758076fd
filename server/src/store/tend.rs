//! Looks after the store while it is served, about once a second.

use std::sync::Arc;
use std::time::Duration;

use slog::{Logger, crit, warn};

use crate::store::engine::{ServedStore, Sizes};
use crate::store::error::CommitError;
use crate::store::group_commit::GroupCommit;
use crate::store::metrics::show_sizes;
use crate::store::writer_thread::StoreLost;

const EVERY: Duration = Duration::from_secs(1);

/// From this size on the WAL is reported, and each time that it has doubled since.
const LONG_WAL: u64 = 256 * 1024 * 1024;

/// Tends the store until it is lost. If it cannot be tended, the writer tries whether it takes writes.
pub async fn tend(store: Arc<dyn ServedStore>, plants: &GroupCommit, log: Logger) -> StoreLost {
    let mut ticks = tokio::time::interval(EVERY);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut report_from = LONG_WAL;
    let mut last_cause = String::new();
    loop {
        ticks.tick().await;
        let store = Arc::clone(&store);
        let tended = tokio::task::spawn_blocking(move || store.tend()).await;
        match tended.unwrap_or_else(|panic| Err(CommitError::Fault(panic.into()))) {
            Ok(sizes) => {
                show_sizes(sizes);
                report_long_wal(sizes, &mut report_from, &log);
                last_cause.clear();
            }
            Err(cause) if cause.is_final() => {
                crit!(log, "the store is lost: stopping"; "cause" => %cause);
                return StoreLost::from(&cause);
            }
            Err(cause) => {
                // Said once, not every second.
                if cause.to_string() != last_cause {
                    warn!(log, "the store cannot be tended"; "cause" => %cause);
                    last_cause = cause.to_string();
                }
                plants.try_write();
            }
        }
    }
}

fn report_long_wal(Sizes { wal: bytes, .. }: Sizes, from: &mut u64, log: &Logger) {
    let bytes = bytes.unwrap_or_default();
    if bytes >= *from {
        warn!(log, "the store's WAL cannot start over: another process reads the store \
                    (`fuser -v` with the path of its -wal file names it), or the disk is too slow";
            "wal_bytes" => bytes);
        *from = bytes.saturating_mul(2);
    } else if bytes < LONG_WAL {
        *from = LONG_WAL;
    }
}
