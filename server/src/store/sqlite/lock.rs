//! One server a store: a lock on the store's file that ends with its process.
//!
//! It is an open file description lock (fcntl(2)), of bytes that SQLite never locks. Every process
//! that has the file open can ask for it, also in another PID namespace, and locks nothing by
//! asking. It covers as many bytes as the server's process id, so the answer names the process.
//!
//! The file that holds the lock must stay open as long as any connection of this process: closing
//! it drops SQLite's own locks
//! (<https://sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_>).

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::libc::{F_UNLCK, F_WRLCK, SEEK_SET, flock, off_t};

/// The store's file, opened for its lock.
pub struct LockFile(File);

impl LockFile {
    /// Opens the store's file. No connection of this process may be open on it.
    pub fn open(path: &Path) -> io::Result<Self> {
        File::options().read(true).write(true).open(path).map(Self)
    }

    /// The file of a new store.
    pub fn new(file: File) -> Self {
        Self(file)
    }

    /// Takes the lock, unless another server has it. Returns whether it did.
    pub fn take(&self) -> io::Result<bool> {
        take(&self.0)
    }

    /// The process that serves the store, by its id in its own PID namespace.
    pub fn server(&self) -> io::Result<Option<u32>> {
        // SQLite locks bytes far behind.
        let mut lock = first_bytes(1);
        fcntl(&self.0, FcntlArg::F_OFD_GETLK(&mut lock))?;
        let is_free = i32::from(lock.l_type) == F_UNLCK;
        Ok((!is_free).then(|| lock.l_len.try_into().unwrap_or(0)))
    }

    /// The device and the inode of the file.
    pub fn id(&self) -> io::Result<(u64, u64)> {
        self.0.metadata().map(|file| (file.dev(), file.ino()))
    }
}

/// Takes the lock of the file, as long as it is open, here or by another handle.
pub fn take(file: &File) -> io::Result<bool> {
    match fcntl(file, FcntlArg::F_OFD_SETLK(&first_bytes(process::id().into()))) {
        Ok(_) => Ok(true),
        Err(Errno::EAGAIN | Errno::EACCES) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn first_bytes(length: off_t) -> flock {
    // Both are small constants.
    let [l_type, l_whence] = [F_WRLCK, SEEK_SET].map(|it| it.try_into().unwrap_or_default());
    flock { l_type, l_whence, l_start: 0, l_len: length, l_pid: 0 }
}
