//! The service, for the tools to call: the release binary on a store that starts empty.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

use anyhow::{Context, Result};
use escargot::CargoBuild;

use super::tools::folder;
use crate::run::root;

/// A serving process. Dropping it kills it.
pub struct Service {
    process: Child,
    /// Kept open, so that the process may go on to write.
    stdout: BufReader<ChildStdout>,
    url: String,
    token: String,
}

impl Service {
    /// Starts the service in a folder that keeps its store and its log until the next start.
    pub fn start() -> Result<Self> {
        let binary = CargoBuild::new()
            .manifest_path(root().join("Cargo.toml"))
            .package("plant-store-server")
            .bin("plant-store")
            .release()
            .run()
            .context("cannot build the service")?;
        let store = folder().join("store");
        if store.exists() {
            fs::remove_dir_all(&store).context("cannot throw the last store away")?;
        }
        fs::create_dir_all(&store).context("cannot make a folder for the store")?;
        let log = File::create(store.join("log")).context("cannot make the log")?;
        let mut process = Command::new(binary.path())
            .args(["serve", "--listen", "127.0.0.1:0"])
            .current_dir(&store)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .context("cannot start the service")?;
        let stdout = BufReader::new(process.stdout.take().expect("standard output is piped"));
        let mut service = Self { process, stdout, url: String::new(), token: String::new() };
        service.greet().context("the service does not serve; its log is beside its store")?;
        Ok(service)
    }

    /// Reads the two lines that the service prints on a new store: its address, and a command
    /// that holds its first token.
    fn greet(&mut self) -> Result<()> {
        let mut lines = (&mut self.stdout).lines().map_while(Result::ok);
        let mut word = |before: &str, end: char| {
            let line = lines.next()?;
            let (_, rest) = line.split_once(before)?;
            Some(rest.split(end).next()?.to_owned())
        };
        self.url = word("listening on ", '\n').context("no address")?;
        self.token = word("Bearer ", '\'').context("no token")?;
        Ok(())
    }

    /// What a tool is told of the service.
    pub fn environment(&self) -> [(&'static str, &str); 2] {
        [("PLANT_STORE_URL", &self.url), ("PLANT_STORE_TOKEN", &self.token)]
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
