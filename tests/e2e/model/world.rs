//! What a scene needs from an engine: servers on a store, the store itself, and the faults of both.

use std::net::SocketAddr;

use plant_store_tests::prelude::*;

use super::faults::Fault;

/// The flags of each server. A create waits longer for the store than a busy machine stalls.
const FLAGS: [&str; 4] = ["--store-timeout", "3s", "--shutdown-timeout", "3s"];

/// The longest that an answer may take: the timeout of a create, and a busy machine.
pub const DEADLINE: Duration = Duration::from_secs(6);

/// How many seconds a command may take before it is killed.
const COMMAND_TIMEOUT: &str = "8";

const LOG: &str = "log";

pub trait World {
    /// The folder in which the servers and the commands run.
    fn folder(&self) -> &Folder;

    /// Returns a command that runs the binary with these words, on the store.
    fn command(&self, words: &str) -> Command {
        self.folder().command(words)
    }

    /// A token that the store accepts from the beginning.
    fn token(&self) -> &str;

    /// The address of a second server on the store, which no step stops.
    fn second(&self) -> Option<SocketAddr> {
        None
    }

    /// Begins a fault. Returns whether it was possible.
    fn begin(&mut self, fault: Fault) -> bool;

    /// Whether a fault has met the service, unless only an answer shows that.
    fn has_met(&self, _: Fault) -> bool {
        true
    }

    /// Ends a fault.
    fn heal(&mut self, fault: Fault);

    /// Cuts the power. The server is down already.
    fn cut_power(&mut self, some_survive: bool);
}

/// Starts the server of this command, which logs to a file in its folder.
pub fn serve(folder: &Folder, mut serve: Command) -> anyhow::Result<Launched> {
    let log = File::options().create(true).append(true).open(folder.path().join(LOG));
    Launched::start(serve.args(FLAGS).stderr(log.expect("the log opens")))
}

/// Runs a command on the store. A command that hangs is killed.
pub fn operate(world: &impl World, words: &str) -> Ended {
    let mut command = world.command(words);
    command.env("FAULTY_DISK_OF_A_COMMAND", "1");
    run(&mut behind(&["timeout", "--signal=KILL", COMMAND_TIMEOUT], &command))
}

/// Returns what the servers have logged, without the records of requests.
pub fn log(world: &impl World) -> String {
    let log = fs::read_to_string(world.folder().path().join(LOG)).unwrap_or_default();
    let lines = log.lines().filter(|line| !line.contains("request completed"));
    lines.collect::<Vec<_>>().join("\n")
}
