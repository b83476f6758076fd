//! The thread that inspects the store once a second: whether its files are still in place, how
//! large it is, and whether it takes writes again.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use metrics::{Unit, describe_gauge, gauge};
use slog::warn;
use tokio::sync::mpsc;

use crate::engine::{Engine, Sizes};
use crate::error::{Error, WarningDedup};
use crate::group_commit::{End, Shared, Work};

const INSPECT_EVERY: Duration = Duration::from_secs(1);

/// A WAL of this size or larger is logged.
const LONG_WAL: u64 = 256 * 1024 * 1024;

/// The thread that inspects the store.
pub struct Inspection {
    pub engine: Arc<dyn Engine>,
    pub shared: Arc<Shared>,
    pub work_sender: mpsc::WeakUnboundedSender<Work>,
    pub end_sender: mpsc::UnboundedSender<End>,
    /// Disconnected when the writer has ended.
    pub stopped: Receiver<()>,
}

impl Inspection {
    /// Inspects the store every second until the writer has ended or the store is lost.
    ///
    /// Until a commit has succeeded, and while commits fail, the writer does a test write each
    /// second. A load balancer sends no creates to a server that is not ready, so nothing else
    /// would show that the database role may write, or that the failure has passed. The writer also
    /// does a test write if the store cannot be inspected, because then commits may fail too.
    pub fn run(self) {
        let Self { engine, shared, work_sender, end_sender, stopped } = self;
        let mut was_long = false;
        let mut warnings = WarningDedup::default();
        loop {
            let must_test = match engine.inspect().map_err(Error::of_served_store) {
                Ok(()) => {
                    let sizes = engine.sizes();
                    show_sizes(sizes);
                    let is_long = sizes.wal >= Some(LONG_WAL);
                    if is_long && !was_long {
                        warn!(shared.log, "the store's WAL cannot be reset: another process is \
                            reading the store (`fuser -v` with the path of the -wal file names \
                            it), or the disk is too slow"; "wal_bytes" => sizes.wal);
                    }
                    was_long = is_long;
                    warnings.succeeded();
                    shared.failure.lock().is_some()
                }
                Err(cause) if cause.is_final() => {
                    let _ = end_sender.send(Err(shared.report_loss(&cause)));
                    return;
                }
                Err(cause) => {
                    if warnings.failed(&cause) {
                        warn!(shared.log, "the store cannot be inspected"; "cause" => %cause);
                    }
                    true
                }
            };
            if must_test && let Some(work_sender) = work_sender.upgrade() {
                let _ = work_sender.send(Work::TestWrite);
            }
            if stopped.recv_timeout(INSPECT_EVERY) != Err(RecvTimeoutError::Timeout) {
                return;
            }
        }
    }
}

/// Sets the gauges of the store's sizes. A size that the engine cannot report has no series.
#[expect(clippy::cast_precision_loss, reason = "no store has 2^53 bytes")]
fn show_sizes(Sizes { store, wal, disk_free }: Sizes) {
    for (bytes, name, meaning) in [
        (store, "store_bytes", "The size of the store, without its WAL."),
        (
            wal,
            "wal_bytes",
            "The size of the store's WAL. It stays below 32 MiB unless another process reads the \
             store for a long time, or the disk is slow.",
        ),
        (
            disk_free,
            "disk_free_bytes",
            "Free space available to the service on the disk that holds the store.",
        ),
    ] {
        if let Some(bytes) = bytes {
            describe_gauge!(name, Unit::Bytes, meaning);
            gauge!(name).set(bytes as f64);
        }
    }
}
