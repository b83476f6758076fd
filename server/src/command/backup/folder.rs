//! A folder with the backups of one store, and the list of the backups made in it.

use std::fs::{self, DirBuilder, File};
use std::num::NonZeroUsize;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use chrono::{TimeDelta, Utc};
use plant_store_store::StoreUrl;
use serde::{Deserialize, Serialize};

use crate::command::backup::files::{remove, replace};

/// The file name of the list.
const LIST: &str = "plant-store-backups.json";

/// The suffixes of the files that may belong to a backup. The backup itself comes last.
const SUFFIXES: [&str; 4] = ["-journal", "-wal", "-shm", ""];

/// The list of the backups in the folder. Its absence shows that the disk is not mounted.
#[derive(Default, Serialize, Deserialize)]
struct List {
    /// The store that is backed up to this folder.
    store: String,
    /// The number of plants at the last backup that was accepted.
    plants: u64,
    /// The names of the backups, oldest first.
    backups: Vec<String>,
    /// The name of a backup that is in progress, or was in progress when the command was killed.
    #[serde(skip_serializing_if = "Option::is_none")]
    unfinished: Option<String>,
}

/// An open folder. It is locked, so no other backup uses it at the same time.
pub struct Folder {
    path: PathBuf,
    list: List,
    _lock: File,
}

impl Folder {
    /// Creates and initializes the folder. Does nothing if it is already initialized for this
    /// store.
    pub fn init(path: &Path, store: &StoreUrl) -> Result<()> {
        let created = DirBuilder::new().recursive(true).mode(0o700).create(path);
        created.with_context(|| format!("cannot create the folder {}", path.display()))?;
        if is_initialized(path)? {
            return Self::open(path, store).map(drop);
        }
        let list = List { store: store.to_string(), ..List::default() };
        Self { path: path.to_owned(), list, _lock: lock(path)? }.write()
    }

    /// Opens the folder, which must have been initialized for this store, and removes the backup
    /// that was in progress when the command was killed.
    pub fn open(path: &Path, store: &StoreUrl) -> Result<Self> {
        let shown = path.display();
        ensure!(
            is_initialized(path)?,
            "{shown} is not a backup folder. Is its disk mounted? To initialize a new folder, run \
             `plant-store backup --init {shown}`"
        );
        let lock = lock(path)?;
        let text = fs::read(path.join(LIST)).with_context(|| format!("cannot read {shown}"))?;
        let list: List = serde_json::from_slice(&text)
            .with_context(|| format!("{LIST} in {shown} is not a list of backups"))?;
        ensure!(
            list.store == store.to_string(),
            "{shown} contains the backups of {}, not of {store}: use a separate folder for each \
             store",
            list.store
        );
        let mut folder = Self { path: path.to_owned(), list, _lock: lock };
        // A backup stays in the list if it is unknown whether it exists.
        folder.list.backups.retain(|name| path.join(name).try_exists().unwrap_or(true));
        if let Some(name) = folder.list.unfinished.take() {
            folder.remove(&name)?;
        }
        Ok(folder)
    }

    /// Adds the name of the next backup to the list as unfinished, and returns its path.
    pub fn begin_backup(&mut self) -> Result<PathBuf> {
        let now = Utc::now();
        let name = (0..3600)
            .map(|seconds| now + TimeDelta::seconds(seconds))
            .map(|time| format!("plant-store-{}.db", time.format("%Y-%m-%dT%H%M%SZ")))
            .find(|name| !self.path.join(name).exists())
            .context("all names for a backup are taken")?;
        let backup = self.path.join(&name);
        self.list.unfinished = Some(name);
        self.write()?;
        Ok(backup)
    }

    /// Marks the unfinished backup as complete.
    pub fn finish_backup(&mut self) -> Result<()> {
        self.list.backups.extend(self.list.unfinished.take());
        self.write()
    }

    /// Returns the number of plants at the last backup that was accepted.
    pub fn plants(&self) -> u64 {
        self.list.plants
    }

    /// Accepts the last backup, which contains `plants` plants, and removes the oldest backups
    /// until `keep` are left.
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

/// Returns whether the folder contains a list.
fn is_initialized(path: &Path) -> Result<bool> {
    path.join(LIST).try_exists().with_context(|| format!("cannot read {}", path.display()))
}

/// Locks the folder. Two backups at the same time would remove each other's unfinished files.
fn lock(path: &Path) -> Result<File> {
    let shown = path.display();
    let lock = File::open(path).with_context(|| format!("cannot open {shown}"))?;
    lock.try_lock().with_context(|| format!("another backup into {shown} is running"))?;
    Ok(lock)
}
