//! A PostgreSQL server with a data folder of its own, which can be stopped, killed and restarted.

use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::keeper::Keeper;
use super::process::{children, has_ended, is_stopped};
use super::{Databases, Session, citus, port};
use crate::events::wait_until;

/// The data folder of a server that has never run. Copying it is faster than `initdb`, which so
/// runs only once in each process.
static TEMPLATE: LazyLock<Keeper> = LazyLock::new(|| {
    let mut keeper = Keeper::start();
    // Without a sync only a power cut could lose these files.
    keeper
        .run("initdb -D data -U postgres -A trust -E UTF8 --locale=C -k --no-sync --wal-segsize=1");
    keeper
});

/// How to stop a server (PostgreSQL, "Shutting Down the Server").
#[derive(Clone, Copy, Debug)]
pub enum Mode {
    /// End the sessions, roll back the transactions, and run a checkpoint.
    Fast,
    /// End every process at once. The next start recovers from the WAL.
    Immediate,
}

/// A database cluster on 127.0.0.1, with fsync and page checksums. Dropping it removes it.
pub struct Cluster {
    pub(super) keeper: Mutex<Keeper>,
    /// The process of the server, or `None` while it is down.
    server: Mutex<Option<Pid>>,
    port: u16,
    databases: Databases,
    /// The workers of a Citus coordinator. Empty for any other cluster.
    workers: Vec<Self>,
}

impl Cluster {
    /// Creates a cluster and starts its server. If the tests run on Citus, it has running workers.
    pub fn start() -> Self {
        let mut cluster = Self::single_node();
        if citus::is_enabled() {
            cluster.workers = (0..citus::WORKERS).map(|_| Self::single_node()).collect();
            cluster.databases.workers =
                cluster.workers.iter().map(|worker| worker.databases.clone()).collect();
        }
        cluster
    }

    fn single_node() -> Self {
        let mut keeper = Keeper::start();
        keeper.run(&format!("cp -r {} data", TEMPLATE.folder.join("data").display()));
        let cluster = Self::new(keeper);
        cluster.start_again();
        cluster
    }

    /// Returns a cluster with an existing data folder. Its server is not started yet.
    pub(super) fn new(keeper: Keeper) -> Self {
        let port = port::free();
        let databases = Databases::new(format!("postgres://postgres@127.0.0.1:{port}"));
        Self {
            keeper: Mutex::new(keeper),
            server: Mutex::new(None),
            port,
            databases,
            workers: Vec::new(),
        }
    }

    /// The port of 127.0.0.1 on which the server listens. A restart does not change it.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns this cluster, followed by its workers.
    pub fn nodes(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.workers)
    }

    /// The databases of the cluster.
    pub fn databases(&self) -> &Databases {
        &self.databases
    }

    /// The URL of a database.
    pub fn url(&self, database: &str) -> String {
        self.databases.url(database)
    }

    /// Opens a session with a database. The database `postgres` always exists.
    pub fn session(&self, database: &str) -> Session {
        self.databases.session(database)
    }

    /// The process id of the server, which is the parent of all its backends.
    pub fn pid(&self) -> Pid {
        lock(&self.server).expect("the server runs")
    }

    /// Returns the log of the server.
    pub fn log(&self) -> String {
        lock(&self.keeper).log()
    }

    /// Starts the server on the same port, and waits until it accepts sessions.
    pub fn start_again(&self) {
        self.start_with("");
    }

    /// Starts the server with environment variables, written as for a shell: `NAME=value`.
    pub fn start_with(&self, variables: &str) {
        let mut server = lock(&self.server);
        assert!(server.is_none(), "the server is down");
        // These settings are not in the data folder, so that a copy of the folder does not get
        // them. Shared memory in files of the data folder is removed with the folder.
        let command = format!(
            "{variables} postgres -D data -c listen_addresses=127.0.0.1 -c port={} \
             -c unix_socket_directories= -c max_connections=300 \
             -c dynamic_shared_memory_type=mmap -c wal_retrieve_retry_interval=100ms {}",
            self.port,
            citus::settings()
        );
        let answer = lock(&self.keeper).start_server(&command);
        let pid = Pid::from_raw(answer.parse().expect("a process id"));
        *server = Some(pid);
        let accepts_sessions = || {
            assert!(!has_ended(pid), "PostgreSQL does not start:\n{}", self.log());
            Session::try_open(&self.url("postgres")).is_ok()
        };
        wait_until(accepts_sessions, || format!("PostgreSQL accepts no session:\n{}", self.log()));
    }

    /// Stops the server, and waits until it has ended.
    pub fn stop(&self, mode: Mode) {
        let signal = match mode {
            Mode::Fast => Signal::SIGINT,
            Mode::Immediate => Signal::SIGQUIT,
        };
        kill(self.pid(), signal).expect("the server is running");
        self.wait_for_end(&[self.pid()]);
    }

    /// Kills the server and all its backends at once, like a crash of the machine, except that
    /// unsynced writes survive.
    pub fn kill(&self) {
        let pid = self.pid();
        // A stopped server starts no more backends.
        kill(pid, Signal::SIGSTOP).expect("the server is running");
        wait_until(|| is_stopped(pid), || "the server does not stop".into());
        let mut processes = children(pid);
        processes.push(pid);
        for process in &processes {
            // A backend may have exited by itself.
            let _ = kill(*process, Signal::SIGKILL);
        }
        // A server does not start while a backend of the previous server is still running.
        self.wait_for_end(&processes);
    }

    /// Changes a setting of the server, and waits until it is in force: for new sessions, for
    /// existing sessions at their next statement, and for the processes of the server itself.
    pub fn set(&self, name: &str, value: &str) {
        let session = self.session("postgres");
        let loaded = session.value("SELECT pg_conf_load_time()");
        session.execute(&format!("ALTER SYSTEM SET {name} = '{value}'"));
        session.execute("SELECT pg_reload_conf()");
        // A new session inherits the server's time. By then the server has signalled all others.
        let time = || self.session("postgres").value("SELECT pg_conf_load_time()");
        wait_until(|| time() != loaded, || format!("{name} is not in force"));
        // The checkpointer tells the backends whether to wait for a standby. It reloads its
        // settings before it runs a checkpoint.
        session.execute("CHECKPOINT");
    }

    fn wait_for_end(&self, processes: &[Pid]) {
        let ended = || processes.iter().all(|process| has_ended(*process));
        wait_until(ended, || format!("the server does not end:\n{}", self.log()));
        lock(&self.keeper).wait_for_server();
        *lock(&self.server) = None;
    }
}

/// Locks a mutex even if it is poisoned, so that the first panic of a test stays visible.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
