//! The signals that the server handles. After [`Signals::register`], none of them kills the
//! process.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// All signals that the server handles.
pub struct Signals {
    pub stop: Stop,
    /// SIGHUP, which reloads the TLS files.
    pub hangup: Signal,
}

/// The signals that stop the server: SIGTERM and SIGINT.
pub struct Stop {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// Registers handlers. From now on, a signal is kept until it is awaited.
    pub fn register() -> io::Result<Self> {
        let terminate = signal(SignalKind::terminate())?;
        let interrupt = signal(SignalKind::interrupt())?;
        let hangup = signal(SignalKind::hangup())?;
        Ok(Self { stop: Stop { terminate, interrupt }, hangup })
    }
}

impl Stop {
    /// Waits for the next signal.
    pub async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
