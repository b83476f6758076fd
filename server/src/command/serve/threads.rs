//! The threads that speak HTTP.

use std::io;
use std::num::NonZeroUsize;
use std::thread::available_parallelism;

use tokio::runtime::{Builder, Runtime};

/// The most of them unless a flag asks for more; more were not tried.
const MOST_THREADS: usize = 4;

/// As many as `--http-threads` asks for, or half of the cores. A single one never has to wake
/// another, which takes a system call.
pub fn http_runtime(threads: Option<u16>) -> io::Result<Runtime> {
    let cores = available_parallelism().map_or(1, NonZeroUsize::get);
    let count = threads.map_or((cores / 2).clamp(1, MOST_THREADS), usize::from);
    if count == 1 {
        return Builder::new_current_thread().enable_all().build();
    }
    Builder::new_multi_thread().worker_threads(count).enable_all().build()
}
