//! The service, for the tools to call: the release binary on a store that starts empty.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use xshell::{Shell, cmd};

use crate::tools::folder;
use xtask::programs::build;
use xtask::run::quietly;

/// A serving process. Dropping it kills it.
pub struct Service {
    process: Child,
    /// Kept open: a process that prints into a closed pipe gets EPIPE.
    _stdout: BufReader<ChildStdout>,
    /// Where it listens.
    pub url: String,
    /// A token that it accepts.
    pub token: String,
    binary: PathBuf,
    /// Where its store and its log are.
    folder: PathBuf,
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Service {
    /// Starts the service, with limits as flags, in a folder that keeps its store and its log until the
    /// next start.
    pub fn start(limits: &[&str]) -> Result<Self> {
        let binary = build("--bin", "plant-store")?;
        let (sh, folder) = (Shell::new()?, folder().join("store"));
        sh.remove_path(&folder)?;
        sh.create_dir(&folder)?;
        let log = File::create(folder.join("log")).context("cannot make the log")?;
        let mut command = Command::new(&binary);
        let flags = ["serve", "--listen", "127.0.0.1:0", "--log-level", "debug"];
        command.args(flags).args(limits).current_dir(&folder).stdout(Stdio::piped()).stderr(log);
        let mut process = command.spawn().context("cannot start the service")?;
        let mut stdout = BufReader::new(process.stdout.take().context("no standard output")?);
        // Where it listens, and a command that creates a plant.
        let mut said = String::new();
        stdout.read_line(&mut said)?;
        stdout.read_line(&mut said)?;
        let after =
            |words| said.split_once(words).and_then(|(_, rest)| rest.split(['\n', '\'']).next());
        let (url, token) = after("listening on ").zip(after("Bearer ")).with_context(|| {
            format!("the service does not serve; its log is beside its store: {}", folder.display())
        })?;
        let (url, token) = (url.to_owned(), token.to_owned());
        Ok(Self { process, _stdout: stdout, url, token, binary, folder })
    }

    /// The variables that tell a tool about the service.
    pub fn environment(&self) -> [(&'static str, &str); 2] {
        [("PLANTS_URL", &self.url), ("PLANTS_TOKEN", &self.token)]
    }

    /// Every plant of the store, as `plant-store export` prints them.
    pub fn export(&self) -> Result<String> {
        let sh = Shell::new()?;
        sh.change_dir(&self.folder);
        let binary = &self.binary;
        quietly(cmd!(sh, "{binary} export"))
    }

    /// Waits until the log has so many records with this number in this field.
    pub fn wait_for(&self, records: usize, field: &str, number: u16) -> Result<()> {
        let end = Instant::now() + Duration::from_mins(1);
        while self.logged(field, number)? < records {
            ensure!(Instant::now() < end, "the log has no {records} records with {field} {number}");
            sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    /// How many records of the log have this number in this field by now.
    pub fn logged(&self, field: &str, number: u16) -> Result<usize> {
        let log = fs::read_to_string(self.folder.join("log")).context("cannot read the log")?;
        let records = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        Ok(records.filter(|record| record[field] == number).count())
    }
}
