//! The inspection of a served store, once a second: whether its files are still in place, how large
//! it is, and whether it takes writes again.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Error;
use slog::{Logger, warn};
use tokio::task::spawn_blocking;
use tokio::time::{MissedTickBehavior, interval};

use crate::engine::Engine;
use crate::error::WriteError;
use crate::group_commit::GroupCommit;
use crate::metrics::show_sizes;
use crate::warning_dedup::WarningDedup;

const EVERY: Duration = Duration::from_secs(1);

/// A WAL of this size or larger is logged.
const LONG_WAL: u64 = 256 * 1024 * 1024;

/// Inspects the store every second until it is lost. Returns the error with which the process has
/// to end.
///
/// Until a commit has succeeded, and while commits fail, the writer does a test write each second.
/// A load balancer sends no creates to a server that is not ready, so nothing else would show that
/// the database role may write, or that the failure has passed. The writer also does a test write
/// if the store cannot be inspected, because then commits may fail too.
pub async fn inspect_each_second(
    engine: Arc<dyn Engine>,
    commits: &GroupCommit,
    log: Logger,
) -> Error {
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut was_long = false;
    let mut warnings = WarningDedup::default();
    loop {
        ticks.tick().await;
        let engine = Arc::clone(&engine);
        let sizes = spawn_blocking(move || engine.inspect()).await;
        match sizes.unwrap_or_else(|panic| Err(WriteError::Fault(panic.into()))) {
            Ok(sizes) => {
                show_sizes(sizes);
                let is_long = sizes.wal >= Some(LONG_WAL);
                if is_long && !was_long {
                    warn!(log, "the store's WAL cannot be reset: another process is reading the \
                                store (`fuser -v` with the path of the -wal file names it), or the \
                                disk is too slow"; "wal_bytes" => sizes.wal);
                }
                was_long = is_long;
                warnings.succeeded();
                if commits.has_failed() {
                    commits.test_write();
                }
            }
            Err(cause) if cause.is_final() => return commits.report_loss(cause, &log),
            Err(cause) => {
                if warnings.failed(&cause) {
                    warn!(log, "the store cannot be inspected"; "cause" => %cause);
                }
                commits.test_write();
            }
        }
    }
}
