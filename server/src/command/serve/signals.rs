//! The signals that the service waits for. From [`Stop::listen`] and [`hangup`] on, none of these
//! signals ends the process.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Those that stop the service.
pub struct Stop {
    terminate: Signal,
    interrupt: Signal,
}

impl Stop {
    pub fn listen() -> io::Result<Self> {
        let terminate = signal(SignalKind::terminate())?;
        let interrupt = signal(SignalKind::interrupt())?;
        Ok(Self { terminate, interrupt })
    }

    /// Waits for the next of them.
    pub async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// The one that has the files of TLS read again.
pub fn hangup() -> io::Result<Signal> {
    signal(SignalKind::hangup())
}
