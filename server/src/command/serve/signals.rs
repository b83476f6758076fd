//! The signals that the service handles.

use std::io;

use nix::sys::signal::Signal::SIGXFSZ;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that are waited for.
pub struct Signals {
    pub stop: Stop,
    /// SIGHUP: the files of TLS are read again.
    pub hangup: Signal,
}

/// The signals that stop the service: SIGTERM and SIGINT.
pub struct Stop {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// From now on these signals do not end the process.
    pub fn handle() -> io::Result<Self> {
        // With a handler, a write past the limit on file size fails with EFBIG instead of ending the
        // process. A create is then refused as on a full disk.
        let _ = signal(SignalKind::from_raw(SIGXFSZ as i32))?;
        let [terminate, interrupt] = [SignalKind::terminate(), SignalKind::interrupt()].map(signal);
        let stop = Stop { terminate: terminate?, interrupt: interrupt? };
        Ok(Self { stop, hangup: signal(SignalKind::hangup())? })
    }
}

impl Stop {
    /// Waits for the next of them.
    pub async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
