//! One server a store: a lock on the store's file that ends with its process.
//!
//! It is flock(2)'s, which SQLite does not use. The file that holds it must stay open as long as
//! any connection of this process: closing it drops SQLite's own locks
//! (<https://sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_>).

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The lock, as long as this lives.
pub struct ServerLock {
    _file: File,
}

impl ServerLock {
    /// The lock of a file that is locked already.
    pub fn held_by(file: File) -> Self {
        Self { _file: file }
    }

    /// Takes the lock; none, where another server has it. No connection of this process may be
    /// open on the store.
    pub fn take(path: &Path) -> io::Result<Option<Self>> {
        let file = File::open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

/// The process that serves the store, as far as it can be seen from here: the kernel lists the
/// locks of processes in this PID namespace (proc(5), `/proc/locks`).
pub fn holder(path: &Path) -> Option<u32> {
    let inode = fs::metadata(path).ok()?.ino();
    let locks = fs::read_to_string("/proc/locks").ok()?;
    // "1: FLOCK  ADVISORY  WRITE 4711 fe:00:1234 0 EOF"; the device is not compared, because some
    // file systems report another one there.
    locks.lines().find_map(|line| {
        let words: Vec<_> = line.split_whitespace().collect();
        let [_, "FLOCK", _, "WRITE", process, file, ..] = words[..] else { return None };
        let is_it = file.rsplit(':').next()?.parse() == Ok(inode);
        is_it.then(|| process.parse().ok())?
    })
}
