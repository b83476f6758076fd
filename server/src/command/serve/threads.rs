//! The runtime whose threads serve HTTP.

use std::io;
use std::num::NonZeroUsize;
use std::thread::available_parallelism;

use tokio::runtime::{Builder, Runtime};

/// The maximum number of threads if `--http-threads` is not set. Larger numbers were not measured.
const MAX_DEFAULT_THREADS: usize = 4;

/// Creates a runtime with `threads` threads, by default half as many as there are cores. A runtime
/// with one thread saves the system calls that wake other threads.
pub fn http_runtime(threads: Option<u16>) -> io::Result<Runtime> {
    let cores = available_parallelism().map_or(1, NonZeroUsize::get);
    let count = threads.map_or((cores / 2).clamp(1, MAX_DEFAULT_THREADS), usize::from);
    if count == 1 {
        return Builder::new_current_thread().enable_all().build();
    }
    Builder::new_multi_thread().worker_threads(count).enable_all().build()
}
