//! The databases of a running server.

use super::{Session, citus};

/// A server, by its URL without a database: `postgres://postgres@127.0.0.1:5432`.
#[derive(Clone, Debug)]
pub struct Databases {
    server: String,
    /// The databases of the Citus workers, if the server is a coordinator.
    pub(super) workers: Vec<Self>,
}

impl Databases {
    /// Returns the databases of the server with that URL.
    pub fn new(server: impl Into<String>) -> Self {
        Self { server: server.into(), workers: Vec::new() }
    }

    /// The URL of the server.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// The URL of a database, whether or not it exists.
    pub fn url(&self, database: &str) -> String {
        format!("{}/{database}", self.server)
    }

    /// Opens a session with a database.
    pub fn session(&self, database: &str) -> Session {
        Session::open(&self.url(database))
    }

    /// Creates an empty database and returns its URL. On Citus, a coordinator and its workers get a
    /// distributed database.
    pub fn create(&self, database: &str) -> String {
        for node in self.nodes() {
            node.session("postgres").execute(&format!("CREATE DATABASE \"{database}\""));
        }
        if !self.workers.is_empty() {
            let workers: Vec<_> = self.workers.iter().map(|node| node.session(database)).collect();
            citus::join(&self.session(database), &workers);
        }
        self.url(database)
    }

    fn nodes(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.workers)
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
    pub fn backends(&self, database: &str) -> Vec<i32> {
        let query = format!(
            "SELECT pid FROM pg_stat_activity
             WHERE datname = '{database}' AND backend_type = 'client backend'"
        );
        let rows = self.session("postgres").rows(&query);
        let pid = |row: Vec<_>| row.into_iter().next().flatten();
        let pids = rows.into_iter().filter_map(pid).map(|pid| pid.parse());
        pids.collect::<Result<_, _>>().expect("a process id is a number")
    }
}
