//! File descriptors: how many of them clients may take.
//!
//! The kernel bounds the connections: a process whose descriptors are all in use accepts no more
//! (getrlimit(2), `RLIMIT_NOFILE`), and the next connections wait in the listener's queue. The soft
//! limit is set so that clients get as many as they may have. What else needs a descriptor then
//! gets it [beyond the limit](beyond_limit).

use std::io;
use std::os::fd::RawFd;
use std::sync::{Mutex, PoisonError};

use nix::errno::Errno;
use nix::sys::resource::{Resource, getrlimit, rlim_t, setrlimit};
use nix::sys::socket::{SockaddrStorage, getsockname};

/// How many descriptors there are beyond the limit: enough for the connections of operators, and
/// for a few files. A hard limit that is low is shared: clients get at least half of it.
const BEYOND: rlim_t = 128;

/// What an engine keeps open, and may not have opened yet when clients are limited: its sessions on a
/// database, one for the plants and one for the rest. Clients would go without them.
const OF_THE_ENGINE: rlim_t = 2;

/// Every descriptor is lower than this before [`limit_clients`] is called.
pub const AT_START: RawFd = 1024;

/// Nothing, as long as clients are not limited.
static LIMIT: Mutex<Option<Limit>> = Mutex::new(None);

struct Limit {
    soft: rlim_t,
    hard: rlim_t,
    /// How many descriptors there are beyond the soft limit.
    beyond: rlim_t,
    /// How many calls of [`beyond_limit`] run.
    calls: usize,
}

/// From now on clients can have so many descriptors. Returns how many: fewer, where the hard limit
/// does not allow them.
pub fn limit_clients(descriptors: u64) -> io::Result<u64> {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    let is_open = |fd: &RawFd| getsockname::<SockaddrStorage>(*fd) != Err(Errno::EBADF);
    let open = (0..AT_START).filter(is_open).count() as rlim_t;
    let free = hard.saturating_sub(open + OF_THE_ENGINE);
    let beyond = BEYOND.min(free / 2);
    let clients = descriptors.min(free - beyond);
    let limit = Limit { soft: open + OF_THE_ENGINE + clients, hard, beyond, calls: 0 };
    setrlimit(Resource::RLIMIT_NOFILE, limit.soft, hard)?;
    *LIMIT.lock().unwrap_or_else(PoisonError::into_inner) = Some(limit);
    Ok(clients)
}

/// Calls `open`, which may open a few descriptors although clients have all of theirs.
pub fn beyond_limit<T>(open: impl FnOnce() -> T) -> T {
    count(1);
    let opened = open();
    count(-1);
    opened
}

/// Every descriptor is lower than this.
#[must_use]
pub fn end() -> RawFd {
    let limit = LIMIT.lock().unwrap_or_else(PoisonError::into_inner);
    let end = limit.as_ref().map_or(0, |limit| limit.soft + limit.beyond);
    end.try_into().unwrap_or(RawFd::MAX)
}

fn count(more: isize) {
    let mut limit = LIMIT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(Limit { soft, hard, beyond, calls }) = limit.as_mut() {
        *calls = calls.saturating_add_signed(more);
        let room = if *calls > 0 { *beyond } else { 0 };
        // The limit never goes above the hard one, so this cannot fail.
        let _ = setrlimit(Resource::RLIMIT_NOFILE, *soft + room, *hard);
    }
}
