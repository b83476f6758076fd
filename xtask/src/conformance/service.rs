//! The service, for the tools to call: the release binary on a store that starts empty.

use std::fs::{self, File};
use std::process::Command;

use anyhow::{Context, Result};
use plant_store_launcher::{Launched, build, token};

use super::tools::folder;

/// A serving process. Dropping it kills it.
pub struct Service {
    launched: Launched,
    token: String,
}

impl Service {
    /// Starts the service in a folder that keeps its store and its log until the next start.
    pub fn start() -> Result<Self> {
        let binary = build(true)?;
        let store = folder().join("store");
        if store.exists() {
            fs::remove_dir_all(&store).context("cannot throw the last store away")?;
        }
        fs::create_dir_all(&store).context("cannot make a folder for the store")?;
        let log = File::create(store.join("log")).context("cannot make the log")?;
        let mut command = Command::new(binary);
        command.args(["serve", "--listen", "127.0.0.1:0"]).current_dir(&store).stderr(log);
        let mut launched = Launched::start(&mut command)
            .context("the service does not serve; its log is beside its store")?;
        let token = token(&launched.first_request()?)?.to_owned();
        Ok(Self { launched, token })
    }

    /// What a tool is told of the service.
    pub fn environment(&self) -> [(&'static str, String); 2] {
        [("PLANT_STORE_URL", self.launched.url.clone()), ("PLANT_STORE_TOKEN", self.token.clone())]
    }
}
