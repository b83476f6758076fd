//! The signals of a command that is the first process of a container.

use std::{io, process, thread};

use nix::sys::signal::{SigSet, Signal};

/// Has SIGINT and SIGTERM end the process also if it is the first one of a container: for that one
/// the kernel has no default action (pid_namespaces(7)).
pub fn end_at_signals_as_first_process() -> io::Result<()> {
    if process::id() != 1 {
        return Ok(());
    }
    let signals = SigSet::from_iter([Signal::SIGINT, Signal::SIGTERM]);
    signals.thread_block()?;
    let wait = move || {
        if let Ok(signal) = signals.wait() {
            // The status that a shell gives to a process that a signal has ended.
            process::exit(128 + signal as i32);
        }
    };
    thread::Builder::new().name("signals".into()).spawn(wait).map(drop)
}
