//! Runs the real binary as a server.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::net::SocketAddr;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use groundwork_testing::{Connection, JSON, Launched, Response};
use nix::sys::signal::Signal;
use nix::unistd::Pid;
use plant_store_client::types::NewPlant;
use serde_json::Value;

use crate::process::{Ended, in_shell, pid, send};
use crate::{Folder, bearer, get, head, post, wait_until};

/// A server that is not started yet: a builder for [`Server`].
#[must_use]
pub struct Starting {
    command: Command,
    folder: Folder,
    /// A token that the existing store accepts. `None` for a new store.
    token: Option<String>,
}

impl Starting {
    /// Prepares a server on the existing store of a folder. `token` is a token that the store
    /// accepts.
    pub fn on(folder: impl Into<Folder>, token: &str) -> Self {
        Self { token: Some(token.to_owned()), ..Server::starting_in(folder.into()) }
    }

    /// Adds arguments for `plant-store serve`.
    pub fn with<I: AsRef<OsStr>>(mut self, arguments: &[I]) -> Self {
        self.command.args(arguments);
        self
    }

    /// Lets the caller change the process before it starts.
    pub fn command(mut self, change: impl FnOnce(&mut Command)) -> Self {
        change(&mut self.command);
        self
    }

    /// Adds an admin listener on any free port.
    pub fn with_admin(self) -> Self {
        self.with(&["--metrics", "127.0.0.1:0"])
    }

    /// Limits the open files of the process with these arguments for `ulimit`. The process cannot
    /// raise the limit `-n 48`, but it can raise the limit `-Sn 48`.
    pub fn with_open_files(self, limit: &str) -> Self {
        let script = format!("ulimit {limit} && exec \"$0\" \"$@\"");
        self.command(|command| *command = in_shell(&script, command))
    }

    /// Returns the folder of the store and the log.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Runs another command on the same store, with these words.
    pub fn run(&self, words: &str) -> Ended {
        self.folder.run(words)
    }

    /// Returns the path of the file to which stderr will be written.
    pub fn log_file(&self) -> PathBuf {
        self.folder().join(LOG)
    }

    /// Starts the server and waits until it prints where it listens.
    pub fn start(mut self) -> Server {
        let log = File::options().create(true).append(true).open(self.log_file());
        let launched = Launched::start(self.command.stderr(log.expect("the log file opens")));
        let launched = launched.unwrap_or_else(|error| {
            let log = std::fs::read_to_string(self.log_file()).unwrap_or_default();
            panic!("the server does not serve: {error:#}; its log:\n{log}")
        });
        let token = self.token.or_else(|| launched.token.clone());
        let token = token.expect("a new store prints a token");
        Server { launched, token, folder: self.folder }
    }
}

const LOG: &str = "log";

/// A running server with its own store and its own folder. Dropping this kills the process.
pub struct Server {
    launched: Launched,
    /// A token that the server accepts.
    pub token: String,
    folder: Folder,
}

/// The process, the address, and what the server printed.
impl Deref for Server {
    type Target = Launched;

    fn deref(&self) -> &Launched {
        &self.launched
    }
}

impl Server {
    /// Starts a server on a new store, with default flags.
    pub fn start() -> Self {
        Self::starting().start()
    }

    /// Prepares a server on a new store.
    pub fn starting() -> Starting {
        Self::starting_in(Folder::new())
    }

    /// Prepares a server on a new store in this folder.
    pub fn starting_in(folder: Folder) -> Starting {
        Starting { command: folder.command("serve"), folder, token: None }
    }

    /// Returns the folder of the store and the log.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the URL of the store, for `--store` in the folder of the server.
    pub fn store(&self) -> &str {
        self.folder.store()
    }

    /// Returns the process id.
    pub fn pid(&self) -> Pid {
        pid(&self.process)
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        send(signal, &self.process);
    }

    /// Waits until the process exits by itself.
    pub fn wait(&mut self) -> ExitStatus {
        wait_until(|| self.try_wait().is_some(), || "the process does not exit".into());
        self.try_wait().expect("it has exited")
    }

    /// Stops the server with SIGTERM.
    pub fn stop(&mut self) {
        self.signal(Signal::SIGTERM);
        assert_eq!(self.wait().code(), Some(0), "{}", self.log());
    }

    /// Returns the exit status if the process has exited.
    pub fn try_wait(&mut self) -> Option<ExitStatus> {
        self.launched.process.try_wait().expect("it can be waited for")
    }

    /// Returns the stdout of a process that has exited, without the lines printed at its start.
    pub fn printed(&mut self) -> String {
        self.launched.rest().expect("text")
    }

    /// Stops the process with a signal. Returns a [`Starting`] that can serve the same store again.
    pub fn stopped_by(self, signal: Signal) -> Starting {
        self.signal(signal);
        let (_, stopped) = self.ended();
        stopped
    }

    /// Waits until the process exits by itself. Returns its exit status, and a [`Starting`] that
    /// can serve the same store again.
    pub fn ended(mut self) -> (ExitStatus, Starting) {
        let status = self.wait();
        (status, Starting::on(self.folder, &self.token))
    }

    /// Returns the stderr of this process so far, after the stderr of earlier processes in the same
    /// folder.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder().join(LOG)).expect("the log is text")
    }

    /// Waits for the first record of the log that fulfils a condition, and returns it.
    pub fn record(&self, is_wanted: impl Fn(&Value) -> bool) -> Value {
        let find = || {
            let log = self.log();
            let records = log.lines().filter_map(|line| serde_json::from_str(line).ok());
            records.into_iter().find(&is_wanted)
        };
        let mut found = None;
        self.wait_until("a record", || {
            found = find();
            found.is_some()
        });
        found.expect("the record was found")
    }

    /// Returns the single record of a request, found by the `X-Request-Id` of its answer.
    pub fn record_of(&self, answer: &Response) -> Value {
        let id = answer.header("x-request-id").expect("a request id");
        let record = self.record(|record| record["req_id"] == id);
        assert_eq!(self.log().matches(id).count(), 1, "one record of {id}");
        record
    }

    /// Waits until the log contains this text.
    pub fn wait_for_log(&self, text: &str) {
        self.wait_until(text, || self.log().contains(text));
    }

    /// Polls until the condition is true. `what` describes the condition in the panic message.
    pub fn wait_until(&self, what: &str, condition: impl FnMut() -> bool) {
        wait_until(condition, || {
            format!("timed out while waiting for: {what}; log:\n{}", self.log())
        });
    }

    /// Returns the address of the admin listener, from the log.
    pub fn admin(&self) -> SocketAddr {
        let record = self.record(|record| record["msg"] == "serving metrics");
        record["address"].as_str().and_then(|address| address.parse().ok()).expect("an address")
    }

    /// Returns the status and the text of `/ready`.
    pub fn ready(&self) -> (u16, String) {
        let answer = get(self.admin(), "/ready");
        (answer.status, String::from_utf8(answer.body).expect("text"))
    }

    /// Returns the number that the metrics have under this name, or 0 if there is none yet.
    pub fn metric(&self, name: &str) -> u64 {
        let metrics = String::from_utf8(get(self.admin(), "/metrics").body).expect("text");
        let number = metrics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        number.map_or(0, |number| number.parse().expect("a number"))
    }

    /// Opens a new connection.
    pub fn connect(&self) -> Connection {
        Connection::open(self.address)
    }

    /// Posts a body with the accepted token, on a new connection.
    pub fn create(&self, body: &str) -> Response {
        self.create_with(&self.bearer(), body)
    }

    /// Returns the header line that contains the accepted token.
    pub fn bearer(&self) -> String {
        bearer(&self.token)
    }

    /// Returns the bytes of a `POST /plants` with the accepted token and this body.
    pub fn post(&self, body: &str) -> Vec<u8> {
        post(&self.bearer(), body.as_bytes())
    }

    /// Posts a body with these header lines instead of the accepted token, on a new connection.
    pub fn create_with(&self, headers: &str, body: &str) -> Response {
        self.connect().exchange(&post(headers, body.as_bytes()))
    }

    /// Sends the head of a request with the accepted token, again and again until it gets a permit.
    /// The server has sent `100 Continue` then, and no byte of the body has been sent.
    pub fn in_flight(&self, body: &str) -> Connection {
        let length = format!("Content-Length: {}\r\nExpect: 100-continue\r\n", body.len());
        let request = head(&(self.bearer() + JSON + &length));
        let mut admitted = None;
        self.wait_until("a permit", || {
            let mut connection = self.connect();
            let is_admitted = connection.exchange(request.as_bytes()).status == 100;
            admitted = is_admitted.then_some(connection);
            is_admitted
        });
        admitted.expect("it has a permit")
    }

    /// Runs another command on the same store, with these words.
    pub fn run(&self, words: &str) -> Ended {
        self.folder.run(words)
    }

    /// Returns all plants of the store, as exported by `plant-store export`.
    pub fn export(&self) -> BTreeMap<i64, NewPlant> {
        let text = self.run("export").succeeded();
        let plants: Vec<NewPlant> = text
            .lines()
            .map(|line| serde_json::from_str(line).expect("a plant on each line"))
            .collect();
        let in_order = plants.is_sorted_by(|one, next| one.id < next.id);
        assert!(in_order, "the plants are ordered by id, and no id occurs twice");
        plants.into_iter().map(|plant| (plant.id, plant)).collect()
    }
}
