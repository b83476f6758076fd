//! The service, for the tools to call: the release binary on a store that starts empty.

use std::fs::{self, File};
use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};
use plant_store_launcher::{Launched, build, token};
use serde_json::Value;
use xshell::{Shell, cmd};

use crate::tools::folder;
use xtask::run::quietly;

/// Python brings SQLite along, so these chores build without it. The lock is held until standard
/// input ends.
const LOCK: &str = "\
import sqlite3, sys
store = sqlite3.connect('plant-store.db', isolation_level=None)
store.execute('BEGIN IMMEDIATE')
print(flush=True)
sys.stdin.read()";

/// A process that holds the store's write lock. Dropping it ends the process.
pub struct Lock(Child);

impl Drop for Lock {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// A serving process. Dropping it kills it.
pub struct Service {
    launched: Launched,
    token: String,
    binary: PathBuf,
    /// Where its store and its log are.
    folder: PathBuf,
}

impl Service {
    /// Starts the service in a folder that keeps its store and its log until the next start.
    pub fn start() -> Result<Self> {
        let binary = build("plant-store", false)?;
        let folder = folder().join("store");
        if folder.exists() {
            fs::remove_dir_all(&folder).context("cannot throw the last store away")?;
        }
        fs::create_dir_all(&folder).context("cannot make a folder for the store")?;
        let log = File::create(folder.join("log")).context("cannot make the log")?;
        let mut command = Command::new(&binary);
        let flags = ["serve", "--listen", "127.0.0.1:0", "--log-level", "debug"];
        command.args(flags).current_dir(&folder).stderr(log);
        let mut launched = Launched::start(&mut command)
            .context("the service does not serve; its log is beside its store")?;
        let token = token(&launched.first_request()?)?.to_owned();
        Ok(Self { launched, token, binary, folder })
    }

    /// Where it listens.
    pub fn url(&self) -> &str {
        &self.launched.url
    }

    /// A token that it accepts.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// The variables that tell a tool about the service.
    pub fn environment(&self) -> [(&'static str, &str); 2] {
        [("PLANT_STORE_URL", self.url()), ("PLANT_STORE_TOKEN", self.token())]
    }

    /// Every plant of the store, as `plant-store export` prints them.
    pub fn export(&self) -> Result<String> {
        let sh = Shell::new()?;
        sh.change_dir(&self.folder);
        let binary = &self.binary;
        quietly(cmd!(sh, "{binary} export"))
    }

    /// Takes the store's one write lock. While it is kept, creates are refused with 503.
    pub fn lock(&self) -> Result<Lock> {
        let mut command = Command::new("python3");
        command.args(["-c", LOCK]).current_dir(&self.folder);
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut lock = Lock(child.context("cannot start python3")?);
        let stdout = lock.0.stdout.as_mut().context("python3 has no standard output")?;
        stdout.read_exact(&mut [0]).context("cannot lock the store")?;
        Ok(lock)
    }

    /// How many records of the log have this number in this field by now.
    pub fn logged(&self, field: &str, number: u16) -> Result<usize> {
        let log = fs::read_to_string(self.folder.join("log")).context("cannot read the log")?;
        let records = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        Ok(records.filter(|record| record[field] == number).count())
    }
}
