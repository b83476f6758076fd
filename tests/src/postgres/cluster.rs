//! PostgreSQL servers, which `pg_ctl` starts, stops and promotes.
//!
//! If `PLANT_STORE_TESTS_CITUS=1` is in the environment, each cluster is a coordinator with two
//! workers. The tests stay the same: each new table `plants` is distributed when it is created.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{self, Child, Command, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use nix::unistd::{Pid, Uid, User};

use super::Session;
use crate::wait_until;

/// Creates a folder, prints its name, and removes the folder and its server when stdin closes. That
/// happens when the cluster is dropped, and when the test process ends, even by SIGKILL. A test may
/// have paused the server.
const KEEP: &str = r#"
    folder=$(mktemp -d "$TMPDIR/plant-store-postgres.XXXXXX") && cd "$folder" && pwd || exit
    read -r _
    kill -CONT "$(head -n 1 data/postmaster.pid)"
    pg_ctl stop -D data -m immediate
    cd / && rm -rf "$folder""#;

/// The server removes this file when it ends.
const PID_FILE: &str = "data/postmaster.pid";

/// These settings are not in the data folder, so that a copy of the folder does not get them.
const SETTINGS: &str = "-c listen_addresses=127.0.0.1 -c unix_socket_directories= \
    -c max_connections=300 -c dynamic_shared_memory_type=mmap -c wal_retrieve_retry_interval=100ms";

/// An interrupted commit on several servers is completed or rolled back within a second, not within
/// a minute.
const CITUS_SETTINGS: &str = "-c shared_preload_libraries=citus \
    -c citus.node_conninfo=sslmode=disable -c citus.recover_2pc_interval=1s";

/// Distributes each new table `plants`. An operator does that once, by hand: see STORES.md.
const DISTRIBUTE: &str = "
    CREATE FUNCTION distribute_plants() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
        PERFORM create_distributed_table(objid, 'id') FROM pg_event_trigger_ddl_commands()
            WHERE object_identity = 'public.plants';
    END $$;
    CREATE EVENT TRIGGER distribute_plants ON ddl_command_end WHEN TAG IN ('CREATE TABLE')
        EXECUTE FUNCTION distribute_plants()";

/// The data folder of a server that has never run. Copying it is faster than `initdb`, which so
/// runs only once in each process. Without a sync only a power cut could lose these files.
static TEMPLATE: LazyLock<Kept> = LazyLock::new(|| {
    let kept = Kept::new();
    kept.run("initdb -D data -U postgres -A trust -E UTF8 --locale=C -k --no-sync --wal-segsize=1");
    kept
});

fn is_on_citus() -> bool {
    env::var_os("PLANT_STORE_TESTS_CITUS").is_some()
}

/// A database cluster on 127.0.0.1, with fsync and page checksums. Dropping it removes it.
pub struct Cluster {
    kept: Kept,
    port: u16,
    /// The workers of a Citus coordinator. Empty for any other cluster.
    workers: Vec<Self>,
}

impl Cluster {
    /// Creates a cluster and starts its server. If the tests run on Citus, it has running workers.
    pub fn start() -> Self {
        let workers = if is_on_citus() { 2 } else { 0 };
        Self { workers: (0..workers).map(|_| Self::single_node()).collect(), ..Self::single_node() }
    }

    fn single_node() -> Self {
        let template = TEMPLATE.folder.display();
        Self::on(&format!("cp -r {template}/data data"))
    }

    /// Starts a server on the data folder that the command makes.
    fn on(command: &str) -> Self {
        let kept = Kept::new();
        kept.run(command);
        let cluster = Self { kept, port: free_port(), workers: Vec::new() };
        cluster.start_again();
        cluster
    }

    /// Starts a standby of this primary, and waits until commits wait for the standby.
    #[must_use]
    pub fn standby(&self) -> Self {
        let standby = Self::on(&format!(
            "pg_basebackup -D data -R -X stream -C -S s1 --checkpoint=fast --no-sync \
             -d 'host=127.0.0.1 port={} user=postgres application_name=s1'",
            self.port
        ));
        self.set("synchronous_standby_names", "s1");
        self.wait_for_standby();
        standby
    }

    /// Waits until the standby follows the primary, so that commits wait for it and succeed.
    pub fn wait_for_standby(&self) {
        let session = self.session("postgres");
        let query = "SELECT count(*) FROM pg_stat_replication
            WHERE state = 'streaming' AND sync_state = 'sync'";
        let is_there = || session.value(query) == "1";
        wait_until(is_there, || format!("the standby does not follow:\n{}", self.log()));
    }

    /// The port of 127.0.0.1 on which the server listens. A restart does not change it.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns this cluster, followed by its workers.
    pub fn nodes(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.workers)
    }

    /// The URL of a database for the superuser, whether or not the database exists.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }

    /// Opens a session with a database. The database `postgres` always exists.
    pub fn session(&self, database: &str) -> Session {
        Session::open(&self.url(database))
    }

    /// Creates an empty database and returns its URL. On Citus it is distributed over the workers.
    pub fn create(&self, database: &str) -> String {
        for node in self.nodes() {
            node.session("postgres").execute(&format!("CREATE DATABASE \"{database}\""));
            if is_on_citus() {
                node.session(database).execute("CREATE EXTENSION citus");
            }
        }
        if is_on_citus() {
            let ports = self.workers.iter().map(|worker| worker.port.to_string());
            let ports = ports.collect::<Vec<_>>().join(", ");
            self.session(database).execute(&format!(
                "SELECT citus_set_coordinator_host('127.0.0.1', inet_server_port());
                SELECT citus_add_node('127.0.0.1', port) FROM unnest(ARRAY[{ports}]) port;
                {DISTRIBUTE}"
            ));
        }
        self.url(database)
    }

    /// Removes a database, and ends its sessions. Failures are ignored: this is called at the end
    /// of a test, and the whole server is removed after it.
    pub fn remove(&self, database: &str) {
        for node in self.nodes() {
            if let Ok(session) = Session::try_open(&node.url("postgres")) {
                let _ = session.try_rows(&format!("DROP DATABASE \"{database}\" WITH (FORCE)"));
            }
        }
    }

    /// Returns the process ids of the backends that serve clients of a database.
    pub fn backends(&self, database: &str) -> Vec<Pid> {
        let rows = self.session("postgres").rows(&format!(
            "SELECT pid FROM pg_stat_activity
             WHERE datname = '{database}' AND backend_type = 'client backend'"
        ));
        rows.into_iter().flatten().flatten().map(|pid| process(&pid)).collect()
    }

    /// The process id of the server, which is the parent of all its backends.
    pub fn pid(&self) -> Pid {
        let file = fs::read_to_string(self.kept.folder.join(PID_FILE));
        process(file.expect("the server runs").lines().next().expect("a process id"))
    }

    /// Returns the log of the server.
    pub fn log(&self) -> String {
        self.kept.log()
    }

    /// Returns whether the server runs.
    pub fn is_up(&self) -> bool {
        self.kept.folder.join(PID_FILE).exists()
    }

    /// Starts the server on the same port, and waits until it accepts sessions.
    pub fn start_again(&self) {
        let citus = if is_on_citus() { CITUS_SETTINGS } else { "" };
        let settings = format!("-c port={} {SETTINGS} {citus}", self.port);
        self.kept.run(&format!("pg_ctl start -D data -w -o '{settings}'"));
    }

    /// Stops the server in a mode of `pg_ctl`, and waits until it has ended: `fast` rolls back the
    /// transactions and runs a checkpoint; `immediate` is like a crash of the machine, except that
    /// unsynced writes survive: the next start recovers from the WAL.
    pub fn stop(&self, mode: &str) {
        self.kept.run(&format!("pg_ctl stop -D data -m {mode}"));
    }

    /// Promotes this standby to a primary, and waits until it takes writes.
    pub fn promote(&self) {
        self.kept.run("pg_ctl promote -D data -w");
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
}

/// A folder with the cluster in `data`, and the output of its programs in `log`.
struct Kept {
    folder: PathBuf,
    keeper: Child,
}

impl Kept {
    fn new() -> Self {
        let mut keeper = shell(Path::new("/"), KEEP);
        let mut keeper = keeper
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // Ctrl-C ends the tests, and the end of the tests ends the server.
            .process_group(0)
            .spawn()
            .expect("there is a shell");
        let stdout = keeper.stdout.as_mut().expect("stdout is piped");
        let mut folder = String::new();
        BufReader::new(stdout).read_line(&mut folder).expect("a name is text");
        let temporary = env::temp_dir();
        assert!(!folder.is_empty(), "PostgreSQL cannot write to {}", temporary.display());
        Self { folder: folder.trim_end().into(), keeper }
    }

    /// Runs a command in the folder, which must succeed.
    fn run(&self, command: &str) {
        let log = fs::File::options().create(true).append(true).open(self.folder.join("log"));
        let log = log.expect("a log");
        let mut shell = shell(&self.folder, command);
        shell.stdin(Stdio::null()).stdout(log.try_clone().expect("a file")).stderr(log);
        let status = shell.status().expect("there is a shell");
        assert!(status.success(), "`{command}` failed:\n{}", self.log());
    }

    fn log(&self) -> String {
        let log = fs::read(self.folder.join("log")).unwrap_or_default();
        String::from_utf8_lossy(&log).into_owned()
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}

/// Returns a shell that runs commands as the user of PostgreSQL, because `initdb` and the server
/// refuse to run as root. The programs are those on the `PATH`, or else those of the newest version
/// that Debian has installed, which puts none of them on the `PATH`.
fn shell(folder: &Path, commands: &str) -> Command {
    let mut shell = Command::new("sh");
    let programs = "PATH=$PATH:$(ls -d /usr/lib/postgresql/*/bin | tail -n 1)";
    shell.arg("-c").arg(format!("{programs}; {commands}")).current_dir(folder).env_clear();
    shell.env("PATH", env::var_os("PATH").unwrap_or_default()).env("TMPDIR", env::temp_dir());
    if Uid::effective().is_root() {
        let user = ["postgres", "nobody"].map(|name| User::from_name(name).ok().flatten());
        let user = user.into_iter().flatten().next().expect("there is an unprivileged user");
        shell.uid(user.uid.as_raw()).gid(user.gid.as_raw());
    }
    shell
}

fn process(id: &str) -> Pid {
    Pid::from_raw(id.parse().expect("a process id"))
}

/// Returns a port of 127.0.0.1 on which nothing listens, a different one on each call. It is below
/// the range that Linux uses for outgoing connections (`ip_local_port_range`): a server that
/// restarts could find a port of that range taken by a client.
fn free_port() -> u16 {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    loop {
        // Processes that run at the same time start far apart.
        let call = process::id().wrapping_mul(97).wrapping_add(CALLS.fetch_add(1, Relaxed));
        let port = u16::try_from(10_000 + call % 22_768).expect("below 32,768");
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return port;
        }
    }
}
