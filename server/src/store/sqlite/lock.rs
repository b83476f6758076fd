//! The locks of the store's file that end with their process: that of the one server, and that of
//! commands, for which the server's writer waits.
//!
//! They are open file description locks (fcntl(2)), of bytes that SQLite never locks. Every process
//! that has the file open can ask for them, also in another PID namespace, and locks nothing by
//! asking. The server's covers as many bytes as its process id, so the answer names the process. Who
//! reads the file without SQLite's locks shares the server's, so that no server starts meanwhile.
//!
//! The file that holds a lock must stay open as long as any connection of this process: closing
//! it drops SQLite's own locks
//! (<https://sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_>).

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::libc::{F_RDLCK, F_UNLCK, F_WRLCK, SEEK_SET, c_int, flock, off_t};

/// The first byte of the commands' lock, behind every process id (proc_sys_kernel(5)).
const COMMANDS: off_t = 1 << 23;

/// How long the server's writer waits for commands at most, and how often it looks. A command takes
/// a few fsyncs.
const COMMANDS_LIMIT: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(1);

/// The store's file, opened for its locks.
pub struct LockFile {
    file: File,
    /// Whether a command has been waited for in vain, and still has its lock.
    is_overdue: AtomicBool,
}

/// The lock of a command, until it is dropped.
pub struct CommandLock<'a>(&'a LockFile);

impl LockFile {
    /// Opens the store's file. No connection of this process may be open on it.
    pub fn open(path: &Path) -> io::Result<Self> {
        File::options().read(true).write(true).open(path).map(Self::new)
    }

    /// Opens the store's file to read it. Such a file can ask for the lock and [`Self::share`] it.
    pub fn open_to_read(path: &Path) -> io::Result<Self> {
        File::open(path).map(Self::new)
    }

    /// Keeps servers from starting, as long as the file is open. Returns false if one runs.
    pub fn share(&self) -> io::Result<bool> {
        set(&self.file, &bytes(F_RDLCK, 0, 1))
    }

    /// The file of a new store.
    pub fn new(file: File) -> Self {
        Self { file, is_overdue: AtomicBool::default() }
    }

    /// Takes the server's lock, unless another server has it. Returns whether it did.
    pub fn take(&self) -> io::Result<bool> {
        take(&self.file)
    }

    /// The process that serves the store, by its id in its own PID namespace.
    pub fn server(&self) -> io::Result<Option<u32>> {
        let found = self.find(bytes(F_WRLCK, 0, 1))?;
        let server = found.filter(|lock| c_int::from(lock.l_type) == F_WRLCK);
        Ok(server.map(|lock| lock.l_len.try_into().unwrap_or(0)))
    }

    /// Takes the commands' lock, which any number of them have at a time.
    pub fn take_for_command(&self) -> io::Result<CommandLock<'_>> {
        fcntl(&self.file, FcntlArg::F_OFD_SETLK(&bytes(F_RDLCK, COMMANDS, 1)))?;
        Ok(CommandLock(self))
    }

    /// Waits while a command has its lock. One that hangs or is stopped is waited for once, for
    /// [`COMMANDS_LIMIT`].
    pub fn wait_for_commands(&self) -> io::Result<()> {
        let began = Instant::now();
        while self.find(bytes(F_WRLCK, COMMANDS, 1))?.is_some() {
            if self.is_overdue.load(Relaxed) || began.elapsed() >= COMMANDS_LIMIT {
                self.is_overdue.store(true, Relaxed);
                return Ok(());
            }
            thread::sleep(LOOK);
        }
        self.is_overdue.store(false, Relaxed);
        Ok(())
    }

    /// The lock of another open file in the way of this one.
    fn find(&self, mut lock: flock) -> io::Result<Option<flock>> {
        fcntl(&self.file, FcntlArg::F_OFD_GETLK(&mut lock))?;
        Ok((c_int::from(lock.l_type) != F_UNLCK).then_some(lock))
    }

    /// The device and the inode of the file.
    pub fn id(&self) -> io::Result<(u64, u64)> {
        self.file.metadata().map(|file| (file.dev(), file.ino()))
    }
}

impl Drop for CommandLock<'_> {
    fn drop(&mut self) {
        // If it fails, the lock ends with the process.
        let _ = fcntl(&self.0.file, FcntlArg::F_OFD_SETLK(&bytes(F_UNLCK, COMMANDS, 1)));
    }
}

/// Takes the server's lock of the file, as long as it is open, here or by another handle.
pub fn take(file: &File) -> io::Result<bool> {
    set(file, &bytes(F_WRLCK, 0, process::id().into()))
}

/// Takes a lock. Returns whether nobody else has it.
fn set(file: &File, lock: &flock) -> io::Result<bool> {
    match fcntl(file, FcntlArg::F_OFD_SETLK(lock)) {
        Ok(_) => Ok(true),
        Err(Errno::EAGAIN | Errno::EACCES) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// SQLite locks bytes far behind.
fn bytes(kind: c_int, start: off_t, length: off_t) -> flock {
    // Both are small constants.
    let [l_type, l_whence] = [kind, SEEK_SET].map(|it| it.try_into().unwrap_or_default());
    flock { l_type, l_whence, l_start: start, l_len: length, l_pid: 0 }
}
