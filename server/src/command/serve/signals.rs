//! The signals that the service waits for. From [`Signals::register`] on, none of them ends the
//! process.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// All of them.
pub struct Signals {
    pub stop: Stop,
    /// Has the files of TLS read again.
    pub hangup: Signal,
}

/// Those that stop the service.
pub struct Stop {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// From now on they wait until somebody asks for them.
    pub fn register() -> io::Result<Self> {
        let terminate = signal(SignalKind::terminate())?;
        let interrupt = signal(SignalKind::interrupt())?;
        let hangup = signal(SignalKind::hangup())?;
        Ok(Self { stop: Stop { terminate, interrupt }, hangup })
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
