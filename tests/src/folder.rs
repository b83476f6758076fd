//! Temporary folders, each with a store of its own, on the engine of this run.
//!
//! The tests run once on SQLite and once on PostgreSQL: with `PLANT_STORE_TESTS_STORE=postgres` in
//! the environment. A store in SQLite is a file in its folder. A store in PostgreSQL is a database
//! with the name of its folder, so that every process that runs there finds it.

use std::env;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use tempfile::TempDir;

use crate::build::binary;
use crate::postgres::{Cluster, Databases};

/// What the name of each folder with a database begins with; the database has the same name.
const PREFIX: &str = "plants_";

/// Where plants are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// A file in the server's folder.
    Sqlite,
    /// A database of [`databases`].
    Postgres,
}

impl Engine {
    /// The engine of this run of the tests.
    pub fn of_this_run() -> Self {
        match env::var("PLANT_STORE_TESTS_STORE").as_deref() {
            Err(env::VarError::NotPresent) => Self::Sqlite,
            Ok("postgres") => Self::Postgres,
            other => panic!("PLANT_STORE_TESTS_STORE: `postgres` is the only value, not {other:?}"),
        }
    }
}

/// The databases of the PostgreSQL that the tests of this process share.
pub fn databases() -> &'static Databases {
    static DATABASES: LazyLock<Databases> = LazyLock::new(|| {
        let cluster = Cluster::start();
        let databases = cluster.databases().clone();
        // It is removed when this process ends.
        std::mem::forget(cluster);
        databases
    });
    &DATABASES
}

/// A temporary folder and its store. Dropping it removes both.
pub struct Folder {
    /// None if the store is the default one: a file in the folder.
    url: Option<String>,
    folder: TempDir,
}

impl Folder {
    /// An empty folder, and the URL of a store on the engine of this run.
    #[expect(clippy::new_without_default, reason = "no two are equal")]
    pub fn new() -> Self {
        let folder = TempDir::with_prefix(PREFIX).expect("a temporary folder");
        let url = database_of(folder.path()).map(|database| databases().create(database));
        Self { url, folder }
    }

    /// An empty folder for a server on the store of that URL, which stays.
    pub fn over(url: &str) -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        Self { url: Some(url.to_owned()), folder }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The URL of the store, as `--store` takes it in this folder.
    pub fn store(&self) -> &str {
        self.url.as_deref().unwrap_or(DEFAULT)
    }

    /// The binary, to be run in this folder, on its store.
    pub fn command(&self) -> Command {
        let mut command = binary_in(self.path());
        command.envs(self.url.as_ref().map(|url| (STORE, url)));
        command
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Some(database) = database_of(self.path()) {
            databases().remove(database);
        }
    }
}

/// The store is a file in this folder, on either engine.
impl From<TempDir> for Folder {
    fn from(folder: TempDir) -> Self {
        Self { url: None, folder }
    }
}

/// The URL of the store that belongs to that folder: see [`Folder::new`].
pub fn store_of(folder: &Path) -> String {
    database_of(folder).map_or_else(|| DEFAULT.into(), |database| databases().url(database))
}

/// The binary, to be run in that folder, on the store that belongs to it: see [`Folder::new`]. A
/// server listens on any free port, because the default port may be in use.
pub fn binary_in(folder: &Path) -> Command {
    let mut command = Command::new(binary());
    without_own_variables(&mut command);
    command.current_dir(folder).env("PLANT_STORE_LISTEN", "127.0.0.1:0");
    command.envs(database_of(folder).map(|database| (STORE, databases().url(database))));
    command
}

/// Takes the tests' own variables, and those of whoever runs the tests, from a process that runs
/// the binary: it would warn about them, or use them.
pub fn without_own_variables(command: &mut Command) {
    for (name, _) in env::vars_os() {
        if name.to_string_lossy().starts_with("PLANT_STORE_") {
            command.env_remove(name);
        }
    }
}

/// The default of `--store`.
const DEFAULT: &str = "sqlite:plant-store.db";

/// The variable that names the store. A flag overrides the variable, so tests may use the flag.
const STORE: &str = "PLANT_STORE_STORE";

/// The database that belongs to a folder. None on SQLite, and for a folder that has none.
fn database_of(folder: &Path) -> Option<&str> {
    let name = folder.file_name()?.to_str()?;
    (name.starts_with(PREFIX) && Engine::of_this_run() == Engine::Postgres).then_some(name)
}
