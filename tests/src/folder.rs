//! Temporary folders, each with its own store on the engine of this test run.
//!
//! The tests run once on SQLite, and once on PostgreSQL if `PLANT_STORE_TESTS_STORE=postgres` is in
//! the environment. A SQLite store is a file in its folder. A PostgreSQL store is a database with
//! the same name as its folder, so that every process that runs in the folder finds it.

use std::env;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use tempfile::TempDir;

use crate::build::PLANT_STORE;
use crate::postgres::Cluster;
use crate::process::{Ended, run};

/// The prefix of the names of folders that have a database. The database has the same name.
const PREFIX: &str = "plants_";

/// The engine of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// A file in the server's folder.
    Sqlite,
    /// A database of the PostgreSQL server that the tests of a process share.
    Postgres,
}

impl Engine {
    /// Returns the engine of this test run.
    pub fn of_this_run() -> Self {
        match env::var("PLANT_STORE_TESTS_STORE").as_deref() {
            Err(env::VarError::NotPresent) => Self::Sqlite,
            Ok("postgres") => Self::Postgres,
            other => panic!("PLANT_STORE_TESTS_STORE must be `postgres` or unset, not {other:?}"),
        }
    }
}

/// The PostgreSQL server that the tests of this process share. It ends with the process.
static CLUSTER: LazyLock<Cluster> = LazyLock::new(Cluster::start);

/// A temporary folder and its store. Both are removed on drop.
pub struct Folder {
    /// `None` if the store is the default store, a file in the folder.
    url: Option<String>,
    folder: TempDir,
}

impl Folder {
    /// Creates an empty folder whose store is on the engine of this test run.
    #[expect(clippy::new_without_default, reason = "no two folders are equal")]
    pub fn new() -> Self {
        let folder = TempDir::with_prefix(PREFIX).expect("a temporary folder");
        let url = database_of(folder.path()).map(|database| CLUSTER.create(database));
        Self { url, folder }
    }

    /// Creates an empty folder for a server on the store with this URL. The store is not removed on
    /// drop.
    pub fn over(url: &str) -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        Self { url: Some(url.to_owned()), folder }
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the URL of the store, for `--store` in this folder.
    pub fn store(&self) -> &str {
        self.url.as_deref().unwrap_or(DEFAULT)
    }

    /// Returns a command that runs the binary with these words in this folder, on its store.
    pub fn command(&self, words: &str) -> Command {
        let mut command = binary_in(self.path(), words);
        command.envs(self.url.as_ref().map(|url| (STORE, url)));
        command
    }

    /// Runs the binary with these words in this folder, on its store.
    pub fn run(&self, words: &str) -> Ended {
        run(&mut self.command(words))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Some(database) = database_of(self.path()) {
            CLUSTER.remove(database);
        }
    }
}

/// Creates a folder whose store is a file, regardless of the engine of this test run.
impl From<TempDir> for Folder {
    fn from(folder: TempDir) -> Self {
        Self { url: None, folder }
    }
}

/// Returns a command that runs the binary with these words in a folder, on the store that belongs
/// to it (see [`Folder::new`]). A server listens on any free port, because the default port may be
/// in use.
pub fn binary_in(folder: &Path, words: &str) -> Command {
    let mut command = Command::new(&*PLANT_STORE);
    command.args(words.split_terminator(' '));
    // The tests and the user may have set variables that the binary would use.
    command.env_remove("PGPASSWORD");
    for (name, _) in env::vars_os() {
        if name.to_string_lossy().starts_with("PLANT_STORE_") {
            command.env_remove(name);
        }
    }
    command.current_dir(folder).env("PLANT_STORE_LISTEN", "127.0.0.1:0");
    command.envs(database_of(folder).map(|database| (STORE, CLUSTER.url(database))));
    command
}

/// The default of `--store`.
const DEFAULT: &str = "sqlite:plant-store.db";

/// The variable that names the store. A flag overrides the variable, so tests may use the flag.
const STORE: &str = "PLANT_STORE_STORE";

/// Returns the database that belongs to a folder. Returns `None` on SQLite, and for a folder that
/// has no database.
fn database_of(folder: &Path) -> Option<&str> {
    let name = folder.file_name()?.to_str()?;
    match Engine::of_this_run() {
        Engine::Sqlite => None,
        Engine::Postgres => name.starts_with(PREFIX).then_some(name),
    }
}
