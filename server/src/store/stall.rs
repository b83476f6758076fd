//! The commit that runs, and how the last one ended: whether the store takes writes.
//!
//! A commit may not end, because the disk does not answer. Nothing here touches the store: it must
//! go on while every call to the store hangs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use slog::{Logger, info, warn};

use crate::store::engine::CommitError;
use crate::store::metrics::CommitMetrics;

/// How often the running commit is looked at.
const LOOK: Duration = Duration::from_secs(1);

/// After how long a commit is reported for the first time; then after twice as long, and so on.
const FIRST_REPORT: Duration = Duration::from_secs(5);

/// The running commit, as the writer's thread, the requests and the watch see it.
pub struct RunningCommit {
    epoch: Instant,
    /// When it began, in milliseconds after the epoch; 0 while none runs.
    began: AtomicU64,
    /// Whether new creates are refused.
    refuses: AtomicBool,
    /// Whether the last commit failed.
    failed: AtomicBool,
    /// Whether that may pass by itself.
    may_pass: AtomicBool,
}

impl RunningCommit {
    pub fn new() -> Self {
        Self {
            epoch: Instant::now(),
            began: AtomicU64::new(0),
            refuses: AtomicBool::default(),
            failed: AtomicBool::default(),
            may_pass: AtomicBool::default(),
        }
    }

    /// Runs a commit.
    pub fn run<T>(
        &self,
        commit: impl FnOnce() -> Result<T, CommitError>,
    ) -> Result<T, CommitError> {
        self.began.store(self.now(), Relaxed);
        let committed = commit();
        self.began.store(0, Relaxed);
        self.refuses.store(false, Relaxed);
        let may_pass = matches!(committed, Err(CommitError::Unavailable(_)));
        self.may_pass.store(may_pass, Relaxed);
        self.failed.store(committed.is_err(), Relaxed);
        committed
    }

    /// Whether the last commit failed.
    pub fn failed(&self) -> bool {
        self.failed.load(Relaxed)
    }

    /// Whether the last commit failed, and the next one may not.
    pub fn may_pass(&self) -> bool {
        self.failed() && self.may_pass.load(Relaxed)
    }

    /// Whether it has run for longer than a create should wait for it.
    pub fn refuses(&self) -> bool {
        self.refuses.load(Relaxed)
    }

    /// Reports it while it hangs, and refuses new creates after `limit`. Never ends.
    pub async fn watch(self: Arc<Self>, limit: Duration, metrics: CommitMetrics, log: Logger) {
        let mut looks = tokio::time::interval(LOOK);
        let mut next_report = FIRST_REPORT;
        loop {
            looks.tick().await;
            let running = match self.began.load(Relaxed) {
                0 => Duration::ZERO,
                began => Duration::from_millis(self.now().saturating_sub(began)),
            };
            metrics.running(running);
            self.refuses.store(running >= limit, Relaxed);
            if running >= next_report {
                warn!(log, "a commit hangs: the disk does not answer"; "seconds" => running.as_secs());
                next_report *= 2;
            } else if running < FIRST_REPORT && next_report > FIRST_REPORT {
                info!(log, "the disk answers again");
                next_report = FIRST_REPORT;
            }
        }
    }

    fn now(&self) -> u64 {
        // Never 0, which says that none runs.
        u64::try_from(self.epoch.elapsed().as_millis()).unwrap_or(u64::MAX).max(1)
    }
}
