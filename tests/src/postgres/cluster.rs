//! A server with a data folder of its own, which can be stopped, killed and started again.

use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::keeper::Keeper;
use super::process::{children, has_ended, is_stopped};
use super::{Databases, Session, citus, port};
use crate::events::wait_until;

/// The data folder of a server that has never run. `initdb` takes longer than copying its result,
/// so it runs once in each process.
static TEMPLATE: LazyLock<Keeper> = LazyLock::new(|| {
    let mut keeper = Keeper::start();
    // What is not synced here is written later: only a power cut could lose it.
    keeper
        .run("initdb -D data -U postgres -A trust -E UTF8 --locale=C -k --no-sync --wal-segsize=1");
    keeper
});

/// How a server is stopped (PostgreSQL, "Shutting Down the Server").
#[derive(Clone, Copy, Debug)]
pub enum Mode {
    /// Sessions are ended, transactions are rolled back, a checkpoint is made.
    Fast,
    /// Every process ends at once; the next start recovers from the log.
    Immediate,
}

/// A cluster of databases on 127.0.0.1, with fsync and checksums of pages. Dropping it removes it.
pub struct Cluster {
    pub(super) keeper: Mutex<Keeper>,
    /// None while the server is down.
    server: Mutex<Option<Pid>>,
    port: u16,
    databases: Databases,
    /// Those of a coordinator of Citus; otherwise none.
    workers: Vec<Self>,
}

impl Cluster {
    /// A new cluster, with a running server. In a run on Citus it has workers, which run too.
    pub fn start() -> Self {
        let mut cluster = Self::alone();
        if citus::is_wanted() {
            cluster.workers = (0..citus::WORKERS).map(|_| Self::alone()).collect();
            cluster.databases.workers =
                cluster.workers.iter().map(|worker| worker.databases.clone()).collect();
        }
        cluster
    }

    fn alone() -> Self {
        let mut keeper = Keeper::start();
        keeper.run(&format!("cp -r {} data", TEMPLATE.folder.join("data").display()));
        let cluster = Self::new(keeper);
        cluster.start_again();
        cluster
    }

    /// A cluster whose data folder is there, and whose server is not started yet.
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

    /// The port of 127.0.0.1 on which it listens, also after it was started again.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Itself, and then its workers: all servers that have to run.
    pub fn nodes(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.workers)
    }

    /// Its databases.
    pub fn databases(&self) -> &Databases {
        &self.databases
    }

    /// The URL of a database.
    pub fn url(&self, database: &str) -> String {
        self.databases.url(database)
    }

    /// A session with a database; `postgres` is always there.
    pub fn session(&self, database: &str) -> Session {
        self.databases.session(database)
    }

    /// The process id of the server, which is the parent of all its backends.
    pub fn pid(&self) -> Pid {
        lock(&self.server).expect("the server runs")
    }

    /// What the server has said.
    pub fn log(&self) -> String {
        lock(&self.keeper).log()
    }

    /// Starts the server on the same port, and waits until it takes sessions.
    pub fn start_again(&self) {
        self.start_with("");
    }

    /// The same, with these variables in its environment, as a shell takes them: `NAME=value`.
    pub fn start_with(&self, variables: &str) {
        let mut server = lock(&self.server);
        assert!(server.is_none(), "the server is down");
        // Here, and not in the data folder, so that a copy of that gets none of it. Shared memory
        // in files of the data folder is removed with it.
        let command = format!(
            "{variables} postgres -D data -c listen_addresses=127.0.0.1 -c port={} \
             -c unix_socket_directories= -c max_connections=300 \
             -c dynamic_shared_memory_type=mmap -c wal_retrieve_retry_interval=100ms {}",
            self.port,
            citus::settings()
        );
        let said = lock(&self.keeper).start_server(&command);
        let pid = Pid::from_raw(said.parse().expect("a process id"));
        *server = Some(pid);
        let takes_sessions = || {
            assert!(!has_ended(pid), "PostgreSQL does not start:\n{}", self.log());
            Session::try_open(&self.url("postgres")).is_ok()
        };
        wait_until(takes_sessions, || format!("PostgreSQL takes no session:\n{}", self.log()));
    }

    /// Stops the server, and waits until it has ended.
    pub fn stop(&self, mode: Mode) {
        let signal = match mode {
            Mode::Fast => Signal::SIGINT,
            Mode::Immediate => Signal::SIGQUIT,
        };
        kill(self.pid(), signal).expect("the server is there");
        self.wait_for_end(&[self.pid()]);
    }

    /// Kills the server and all its backends at once, as a crash of the machine does, except that
    /// what was written and not synced is kept.
    pub fn kill(&self) {
        let pid = self.pid();
        // A stopped server starts no further backend.
        kill(pid, Signal::SIGSTOP).expect("the server is there");
        wait_until(|| is_stopped(pid), || "the server does not stop".into());
        let mut processes = children(pid);
        processes.push(pid);
        for process in &processes {
            // A backend may have ended by itself.
            let _ = kill(*process, Signal::SIGKILL);
        }
        // A server does not start while a backend of the one before is there.
        self.wait_for_end(&processes);
    }

    /// Changes a setting of the server, and waits until it is in force: for every new session, for
    /// each other one at its next statement, and for the processes of the server itself.
    pub fn set(&self, name: &str, value: &str) {
        let session = self.session("postgres");
        let loaded = session.value("SELECT pg_conf_load_time()");
        session.execute(&format!("ALTER SYSTEM SET {name} = '{value}'"));
        session.execute("SELECT pg_reload_conf()");
        // A new session takes the server's time. The server has signalled all others by then.
        let time = || self.session("postgres").value("SELECT pg_conf_load_time()");
        wait_until(|| time() != loaded, || format!("{name} is not in force"));
        // The checkpointer tells backends whether to wait for a standby. It reads its settings
        // before it makes a checkpoint.
        session.execute("CHECKPOINT");
    }

    fn wait_for_end(&self, processes: &[Pid]) {
        let ended = || processes.iter().all(|process| has_ended(*process));
        wait_until(ended, || format!("the server does not end:\n{}", self.log()));
        lock(&self.keeper).wait_for_server();
        *lock(&self.server) = None;
    }
}

/// A panic of a test must not hide behind the next one.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
