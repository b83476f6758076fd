//! What a scene needs from an engine: servers on a store, the store itself, and the faults of both.

use std::net::SocketAddr;
use std::os::unix::process::ExitStatusExt;
use std::sync::mpsc::{self, RecvTimeoutError};

use nix::sys::signal::kill;
use nix::unistd::Pid;
use plant_store_tests::prelude::*;

use super::faults::Fault;

/// The longest that a command may take before it is killed.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(8);

/// The server that the steps stop and start.
pub struct Process {
    /// `None` while it is down.
    pub up: Option<Server>,
    /// `None` while it is up.
    down: Option<Starting>,
    prepare: fn(Starting) -> Starting,
    /// A token that the store accepts from the beginning.
    pub token: String,
    /// The URL of the store, for a command.
    pub store: String,
    folder: PathBuf,
}

impl Process {
    /// `prepare` adds what the server needs for each further start.
    pub fn new(server: Server, prepare: fn(Starting) -> Starting) -> Self {
        Self {
            token: server.token.clone(),
            store: server.store().to_owned(),
            folder: server.folder().to_owned(),
            up: Some(server),
            down: None,
            prepare,
        }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether it is running, or has ended without a call of [`ended`](Self::ended).
    pub fn is_up(&self) -> bool {
        self.up.is_some()
    }

    pub fn start(&mut self) {
        let down = self.down.take().expect("the server is down");
        self.up = Some((self.prepare)(down).start());
    }

    pub fn signal(&self, signal: Signal) {
        self.up.as_ref().expect("the server is up").signal(signal);
    }

    /// Returns the exit code, as in a shell, if it has ended since the last call.
    pub fn ended(&mut self) -> Option<i32> {
        self.up.as_mut()?.try_wait()?;
        let (status, down) = self.up.take()?.ended();
        self.down = Some(down);
        status.code().or_else(|| status.signal().map(|signal| 128 + signal))
    }

    /// Returns the log without the records of requests.
    pub fn log(&self) -> String {
        without_requests(&self.folder)
    }
}

/// Returns the log of the server in a folder, without the records of requests.
pub fn without_requests(folder: &Path) -> String {
    let log = fs::read_to_string(folder.join("log")).unwrap_or_default();
    let lines = log.lines().filter(|line| !line.contains("request completed"));
    lines.collect::<Vec<_>>().join("\n")
}

pub trait World {
    fn process(&self) -> &Process;

    fn process_mut(&mut self) -> &mut Process;

    /// The addresses of all servers.
    fn addresses(&self) -> Vec<SocketAddr> {
        self.process().up.iter().map(|server| server.address).collect()
    }

    /// Returns a probe that does what the service does to read its tokens. On SQLite it reads them
    /// from memory, so only a thread that is late matters.
    fn probe(&self) -> Box<dyn FnMut() + Send> {
        Box::new(|| ())
    }

    /// Begins a fault. Returns whether it was possible.
    fn begin(&mut self, fault: Fault) -> bool;

    /// Whether a fault that was begun has shown itself, if it has to do so under load.
    fn has_shown(&self, _: Fault) -> bool {
        true
    }

    /// Ends a fault.
    fn heal(&mut self, fault: Fault);

    /// Starts the server, which a fault kills before or soon after it serves.
    fn start_in_vain(&mut self) {}

    /// Whether a sync of the server has failed, so that it has to end.
    fn has_failed_sync(&self) -> bool {
        false
    }

    /// Cuts the power. The server is down already.
    fn cut_power(&mut self, some_survive: bool);

    /// Returns the binary, to run on the store.
    fn command(&self) -> Command;

    /// What the servers have logged, without requests.
    fn log(&self) -> String {
        self.process().log()
    }

    /// Runs a command on the store. A command that hangs is killed.
    fn run(&self, words: &[&str]) -> Ended {
        let mut command = self.command();
        command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().expect("the binary starts");
        let pid = Pid::from_raw(child.id().cast_signed());
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
        output.into()
    }
}
