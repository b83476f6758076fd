//! Once a second, while the store is served: whether it is still in its place, how large it is, and
//! whether it takes writes again.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Error;
use slog::{Logger, warn};
use tokio::task::spawn_blocking;
use tokio::time::{MissedTickBehavior, interval};

use crate::engine::Engine;
use crate::error::WriteError;
use crate::group_commit::GroupCommit;
use crate::last_cause::LastCause;
use crate::metrics::show_sizes;

const EVERY: Duration = Duration::from_secs(1);

/// From this size on the WAL is reported.
const LONG_WAL: u64 = 256 * 1024 * 1024;

/// Inspects the store until it is lost. Until a commit has succeeded, and while commits fail, the
/// writer tries one each second: if a balancer sends no creates because of that, nothing else would
/// tell that the role may write, or when the reason has passed.
/// It also tries one if the store cannot be inspected: then commits may fail, too.
pub async fn inspect_each_second(
    engine: Arc<dyn Engine>,
    commits: &GroupCommit,
    log: Logger,
) -> Error {
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut was_long = false;
    let mut last_cause = LastCause::default();
    loop {
        ticks.tick().await;
        let engine = Arc::clone(&engine);
        let sizes = spawn_blocking(move || engine.inspect()).await;
        match sizes.unwrap_or_else(|panic| Err(WriteError::Fault(panic.into()))) {
            Ok(sizes) => {
                show_sizes(sizes);
                let is_long = sizes.wal >= Some(LONG_WAL);
                if is_long && !was_long {
                    warn!(log, "the store's WAL cannot start over: another process reads the store \
                                (`fuser -v` with the path of its -wal file names it), or the disk \
                                is too slow"; "wal_bytes" => sizes.wal);
                }
                was_long = is_long;
                last_cause.succeeded();
                if commits.has_failed() {
                    commits.try_write();
                }
            }
            Err(cause) if cause.is_final() => return commits.report_loss(cause, &log),
            Err(cause) => {
                if last_cause.failed(&cause) {
                    warn!(log, "the store cannot be looked at"; "cause" => %cause);
                }
                commits.try_write();
            }
        }
    }
}
