//! The commit that runs, and how the last one ended: whether the store takes writes.
//!
//! A commit hangs if the disk or the database does not answer. Nothing here touches the store: this
//! code must run while every call to the store hangs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use slog::{Logger, info, warn};

use crate::store::error::CommitError;
use crate::store::metrics::CommitMetrics;

/// How often the running commit is looked at.
const LOOK: Duration = Duration::from_secs(1);

/// After how long a commit is reported for the first time; then after twice as long, and so on. A
/// commit may wait for another process's write lock for nearly as long.
const FIRST_REPORT: Duration = Duration::from_secs(5);

/// The running commit, shared by the writer's thread, the requests and the watch.
pub struct RunningCommit {
    epoch: Instant,
    /// When it began, in milliseconds after the epoch; 0 while none runs.
    began: AtomicU64,
    /// How long it may run before new creates are refused.
    limit: Duration,
    /// Whether the last commit failed.
    failed: AtomicBool,
    /// Whether the next commit may succeed.
    may_pass: AtomicBool,
}

impl RunningCommit {
    pub fn new(limit: Duration) -> Self {
        Self {
            epoch: Instant::now(),
            began: AtomicU64::new(0),
            limit,
            failed: AtomicBool::default(),
            may_pass: AtomicBool::default(),
        }
    }

    /// Runs a commit.
    pub fn run<T>(
        &self,
        commit: impl FnOnce() -> Result<T, CommitError>,
    ) -> Result<T, CommitError> {
        let committed = self.watched(commit);
        let may_pass = matches!(committed, Err(CommitError::Unavailable(_)));
        self.may_pass.store(may_pass, Relaxed);
        self.failed.store(committed.is_err(), Relaxed);
        committed
    }

    /// Runs what commits wait for.
    pub fn watched<T>(&self, work: impl FnOnce() -> T) -> T {
        self.began.store(self.now(), Relaxed);
        let done = work();
        self.began.store(0, Relaxed);
        done
    }

    /// Whether the last commit failed.
    pub fn failed(&self) -> bool {
        self.failed.load(Relaxed)
    }

    /// Whether the last commit failed, and the next one may succeed.
    pub fn may_pass(&self) -> bool {
        self.may_pass.load(Relaxed)
    }

    /// Whether it has run for longer than a create should wait for it.
    pub fn refuses(&self) -> bool {
        self.time().is_some_and(|time| time >= self.limit)
    }

    /// Reports it while it hangs. Never ends.
    pub async fn watch(self: Arc<Self>, metrics: CommitMetrics, log: Logger) {
        let mut looks = tokio::time::interval(LOOK);
        let mut next_report = FIRST_REPORT;
        loop {
            looks.tick().await;
            let time = self.time().unwrap_or_default();
            metrics.running(time);
            if time >= next_report {
                warn!(log, "a commit hangs: the store does not answer"; "seconds" => time.as_secs());
                next_report *= 2;
            } else if time < FIRST_REPORT && next_report > FIRST_REPORT {
                info!(log, "the store answers again");
                next_report = FIRST_REPORT;
            }
        }
    }

    /// How long it has been running, if one runs.
    fn time(&self) -> Option<Duration> {
        match self.began.load(Relaxed) {
            0 => None,
            began => Some(Duration::from_millis(self.now().saturating_sub(began))),
        }
    }

    fn now(&self) -> u64 {
        // Never 0, which says that none runs.
        u64::try_from(self.epoch.elapsed().as_millis()).unwrap_or(u64::MAX).max(1)
    }
}
