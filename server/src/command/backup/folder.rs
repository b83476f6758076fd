//! The folder of the backups of one store, with a list of those that were made there.

use std::fs::{self, DirBuilder, File};
use std::num::NonZeroUsize;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use chrono::{TimeDelta, Utc};
use plant_store_store::StoreUrl;
use serde::{Deserialize, Serialize};

use crate::command::backup::files::{remove, replace};

/// The list, in the folder.
const LIST: &str = "plant-store-backups.json";

/// What follows the name of a backup in the names of its files.
const SUFFIXES: [&str; 4] = ["-journal", "-wal", "-shm", ""];

/// What was made in the folder.
#[derive(Default, Serialize, Deserialize)]
struct List {
    /// The store that is backed up here. A disk that is not mounted has no list.
    store: String,
    /// How many plants the store had at the last backup that was accepted.
    plants: u64,
    /// The names of the backups, in the order in which they were made.
    backups: Vec<String>,
    /// The name of the backup that is being made, or was when the command was killed.
    #[serde(skip_serializing_if = "Option::is_none")]
    unfinished: Option<String>,
}

/// A folder that no other backup uses meanwhile.
pub struct Folder {
    path: PathBuf,
    list: List,
    _lock: File,
}

impl Folder {
    /// Begins the folder, unless it was begun for that store.
    pub fn begin(path: &Path, store: &StoreUrl) -> Result<()> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
        made.with_context(|| format!("cannot make the folder {}", path.display()))?;
        if is_begun(path)? {
            return Self::open(path, store).map(drop);
        }
        let list = List { store: store.to_string(), ..List::default() };
        Self { path: path.to_owned(), list, _lock: lock(path)? }.write()
    }

    /// Opens the folder, which must have been begun for that store, and removes the backup that was
    /// being made when the command was killed.
    pub fn open(path: &Path, store: &StoreUrl) -> Result<Self> {
        let shown = path.display();
        ensure!(
            is_begun(path)?,
            "{shown} is no folder of backups. If it is on a disk, is the disk mounted? \
             `plant-store backup --init {shown}` begins a new one"
        );
        let lock = lock(path)?;
        let text = fs::read(path.join(LIST)).with_context(|| format!("cannot read {shown}"))?;
        let list: List = serde_json::from_slice(&text)
            .with_context(|| format!("{LIST} in {shown} is no list of backups"))?;
        ensure!(
            list.store == store.to_string(),
            "{shown} takes the backups of {}, and this is {store}: take a folder for each store",
            list.store
        );
        let mut folder = Self { path: path.to_owned(), list, _lock: lock };
        // A backup that cannot be looked at stays in the list.
        folder.list.backups.retain(|name| path.join(name).try_exists().unwrap_or(true));
        if let Some(name) = folder.list.unfinished.take() {
            folder.remove(&name)?;
        }
        Ok(folder)
    }

    /// Notes the name of the next backup in the list, and returns its path.
    pub fn begin_backup(&mut self) -> Result<PathBuf> {
        let now = Utc::now();
        let name = (0..3600)
            .map(|seconds| now + TimeDelta::seconds(seconds))
            .map(|time| format!("plant-store-{}.db", time.format("%Y-%m-%dT%H%M%SZ")))
            .find(|name| !self.path.join(name).exists())
            .context("no name is free")?;
        let backup = self.path.join(&name);
        self.list.unfinished = Some(name);
        self.write()?;
        Ok(backup)
    }

    /// Adds the backup to the list, once it is complete.
    pub fn finish_backup(&mut self) -> Result<()> {
        self.list.backups.extend(self.list.unfinished.take());
        self.write()
    }

    /// How many plants the store had at the last backup that was accepted.
    pub fn plants(&self) -> u64 {
        self.list.plants
    }

    /// Accepts the last backup, which has so many plants, and removes the oldest backups, until
    /// `keep` are left.
    pub fn accept(&mut self, plants: u64, keep: NonZeroUsize) -> Result<()> {
        self.list.plants = plants;
        let surplus = self.list.backups.len().saturating_sub(keep.get());
        for name in self.list.backups.drain(..surplus).collect::<Vec<_>>() {
            self.remove(&name)?;
        }
        self.write()
    }

    fn remove(&self, name: &str) -> Result<()> {
        SUFFIXES.iter().try_for_each(|suffix| remove(&self.path.join(format!("{name}{suffix}"))))
    }

    fn write(&self) -> Result<()> {
        let text = serde_json::to_string_pretty(&self.list)? + "\n";
        let written = replace(&self.path.join(LIST), &text, 0o600);
        written.with_context(|| format!("cannot write {LIST} in {}", self.path.display()))
    }
}

/// Whether the folder has a list.
fn is_begun(path: &Path) -> Result<bool> {
    path.join(LIST).try_exists().with_context(|| format!("cannot read {}", path.display()))
}

/// Keeps other backups out of the folder: each would remove what the other has not finished.
fn lock(path: &Path) -> Result<File> {
    let shown = path.display();
    let lock = File::open(path).with_context(|| format!("cannot open {shown}"))?;
    lock.try_lock().with_context(|| format!("another backup into {shown} runs"))?;
    Ok(lock)
}
