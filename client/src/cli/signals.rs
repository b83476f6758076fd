//! The signals that end a command. The first process of a container (PID 1) ignores every signal
//! that it has no handler for.

use std::process::ExitCode;

#[cfg(unix)]
use tokio::signal::unix::{SignalKind, signal};

/// The exit code after a signal, as in a shell: 128 plus the number of the signal.
const BY_SIGINT: u8 = 130;
#[cfg(unix)]
const BY_SIGTERM: u8 = 143;

/// Waits for a signal that ends a command, and returns the exit code.
pub async fn interrupted() -> ExitCode {
    let interrupt = tokio::signal::ctrl_c();
    #[cfg(unix)]
    if let Ok(mut terminate) = signal(SignalKind::terminate()) {
        return tokio::select! {
            _ = interrupt => ExitCode::from(BY_SIGINT),
            _ = terminate.recv() => ExitCode::from(BY_SIGTERM),
        };
    }
    let _ = interrupt.await;
    ExitCode::from(BY_SIGINT)
}
