//! Signal handling for commands that run as the first process of a container.

use std::{io, process, thread};

use nix::sys::signal::{SigSet, Signal};

/// Makes SIGINT and SIGTERM end the process if its process id is 1. The kernel has no default
/// action for signals to that process (pid_namespaces(7)).
pub fn exit_on_signals_as_pid_1() -> io::Result<()> {
    if process::id() != 1 {
        return Ok(());
    }
    let signals = SigSet::from_iter([Signal::SIGINT, Signal::SIGTERM]);
    signals.thread_block()?;
    let wait = move || {
        if let Ok(signal) = signals.wait() {
            // The exit code that a shell reports for a process that was killed by a signal.
            process::exit(128 + signal as i32);
        }
    };
    thread::Builder::new().name("signals".into()).spawn(wait).map(drop)
}
