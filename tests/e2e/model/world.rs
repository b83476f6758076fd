//! What a scene needs from an engine.

use std::net::SocketAddr;
use std::process::{Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::faults::Fault;

/// The longest that a command may take before it is killed.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(8);

/// Servers on a store, the store itself, and the faults of both. Signals, pauses and ends concern
/// the first server.
pub trait World {
    /// The addresses of all servers.
    fn addresses(&self) -> Vec<SocketAddr>;

    /// A token that the store accepts from the beginning.
    fn first_token(&self) -> &str;

    /// The URL of the store, for a command.
    fn store(&self) -> &str;

    /// Returns a probe that does what the service does to read its tokens.
    fn probe(&self) -> Box<dyn FnMut() + Send>;

    /// Begins a fault. Returns whether it was possible.
    fn begin(&mut self, fault: Fault) -> bool;

    /// Whether a fault that was begun has shown itself, if it has to do so under load.
    fn has_shown(&self, fault: Fault) -> bool;

    /// Ends a fault.
    fn heal(&mut self, fault: Fault);

    /// Starts the server, which is down.
    fn start(&mut self);

    /// Starts the server, which a fault kills before or soon after it serves.
    fn start_in_vain(&mut self);

    /// Sends the server a signal.
    fn stop(&mut self, signal: Signal);

    /// Returns the exit status of the server if it has ended since the last call.
    fn ended(&mut self) -> Option<ExitStatus>;

    /// Whether the server is running, or has ended without a call of [`ended`](Self::ended).
    fn is_up(&self) -> bool;

    /// Whether a sync of the server has failed, so that it has to end.
    fn has_failed_sync(&self) -> bool;

    /// What a proper stop without faults must not leave behind.
    fn left_behind(&self) -> Option<&'static str>;

    /// Cuts the power. The server is down already.
    fn cut_power(&mut self, some_survive: bool);

    /// Runs a command on the store. A command that hangs is killed.
    fn run(&self, words: &[&str]) -> Output;

    /// What the servers have logged, without requests.
    fn log(&self) -> String;
}

/// Runs a command to its end, and kills it if it hangs.
pub fn output(command: &mut Command) -> Output {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("the binary starts");
    let pid = Pid::from_raw(i32::try_from(child.id()).expect("a process id is an i32"));
    let (done, is_done) = mpsc::channel::<()>();
    let watch = thread::spawn(move || {
        if is_done.recv_timeout(COMMAND_TIMEOUT) == Err(RecvTimeoutError::Timeout) {
            // It was not waited for yet, so the id is still its own.
            let _ = kill(pid, Signal::SIGKILL);
        }
    });
    let output = child.wait_with_output().expect("it can be waited for");
    drop(done);
    watch.join().expect("the watch ended");
    output
}

/// Returns the records of a log that are not about requests.
pub fn without_requests(log: &str) -> String {
    let lines = log.lines().filter(|line| !line.contains("request completed"));
    lines.collect::<Vec<_>>().join("\n")
}
