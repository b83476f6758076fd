//! The service, for the tools to call, on a store that starts empty.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use plant_store_launcher::{Launched, build, token};
use serde_json::Value;
use xshell::{Shell, cmd};

use crate::tools::folder;
use xtask::run::quietly;

/// A serving process. Dropping it kills it.
pub struct Service {
    process: Launched,
    /// A token that it accepts.
    token: String,
    binary: PathBuf,
    /// Where its store and its log are.
    folder: PathBuf,
}

impl Service {
    /// Starts the service, with limits as flags, in a folder that keeps its store and its log until the
    /// next start.
    pub fn start(limits: &[&str]) -> Result<Self> {
        let binary = build("plant-store", false)?;
        let (sh, folder) = (Shell::new()?, folder().join("store"));
        sh.remove_path(&folder)?;
        sh.create_dir(&folder)?;
        let log = File::create(folder.join("log")).context("cannot make the log")?;
        let mut command = Command::new(&binary);
        command.args(["serve", "--listen", "127.0.0.1:0", "--log-level", "debug"]).args(limits);
        let mut process = Launched::start(command.current_dir(&folder).stderr(log))
            .with_context(|| format!("the log is beside the store: {}", folder.display()))?;
        let token = token(&process.first_request()?)?.to_owned();
        Ok(Self { process, token, binary, folder })
    }

    /// The variables that tell a tool about the service.
    pub fn environment(&self) -> [(&'static str, &str); 2] {
        [("PLANTS_URL", &self.process.url), ("PLANTS_TOKEN", &self.token)]
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
