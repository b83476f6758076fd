//! The inspection of the store between two commits: whether its files are still in place, how large
//! it is, and what is logged about that.

use metrics::{Unit, describe_gauge, gauge};
use slog::{Logger, warn};

use crate::engine::{Engine, Sizes};
use crate::error::{Error, WarningDedup};

/// A WAL of this size or larger is logged.
const LONG_WAL: u64 = 256 * 1024 * 1024;

/// What the inspections so far have found.
#[derive(Default)]
pub struct Inspection {
    was_long: bool,
    warnings: WarningDedup,
}

impl Inspection {
    /// Inspects the store. Returns `false` if that was not possible.
    ///
    /// # Errors
    ///
    /// Fails if the store is lost.
    pub fn run(&mut self, engine: &dyn Engine, log: &Logger) -> Result<bool, Error> {
        match engine.inspect().map_err(Error::of_served_store) {
            Ok(()) => {
                let sizes = engine.sizes();
                show_sizes(sizes);
                let is_long = sizes.wal >= Some(LONG_WAL);
                if is_long && !self.was_long {
                    warn!(log, "the store's WAL cannot be reset: another process is reading the \
                        store (`fuser -v` with the path of the -wal file names it), or the disk is \
                        too slow"; "wal_bytes" => sizes.wal);
                }
                self.was_long = is_long;
                self.warnings.succeeded();
                Ok(true)
            }
            Err(cause) if cause.is_final() => Err(cause),
            Err(cause) => {
                if self.warnings.failed(&cause) {
                    warn!(log, "the store cannot be inspected"; "cause" => %cause);
                }
                Ok(false)
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
             store for a long time, the disk is slow, or bodies may be large.",
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
