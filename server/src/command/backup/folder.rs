//! The folder of the backups of one store, with a list of those that were made there.

use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind};
use std::num::NonZeroUsize;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use chrono::{TimeDelta, Utc};
use plant_store_store::StoreUrl;
use serde::{Deserialize, Serialize};
use tempfile::{TempDir, TempPath};

/// The list, in the folder.
const LIST: &str = "plant-store-backups.json";

/// The folder of what is not finished, in the folder.
const UNFINISHED: &str = ".unfinished";

/// What follows the name of a backup in the names of its files; its readers make the first two.
const BESIDE: [&str; 3] = ["-wal", "-shm", ""];

/// What was made in the folder.
#[derive(Default, Serialize, Deserialize)]
struct List {
    /// Whose backups they are: a disk that is not mounted has no list, another store another one.
    store: String,
    /// How many plants the store had at the last backup that was accepted.
    plants: usize,
    /// The names of the backups, in the order in which they were made.
    backups: Vec<String>,
}

/// A folder that no other backup uses meanwhile.
pub struct Folder {
    path: PathBuf,
    list: List,
    /// What is not finished. It is removed with this value; after a kill, by the next backup.
    unfinished: TempDir,
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
        Self::lock(path, list)?.write()
    }

    /// Opens the folder, which must have been begun for that store.
    pub fn open(path: &Path, store: &StoreUrl) -> Result<Self> {
        let shown = path.display();
        ensure!(
            is_begun(path)?,
            "{shown} is no folder of backups. If it is on a disk, is the disk mounted? \
             `plant-store backup --init {shown}` begins a new one"
        );
        let mut folder = Self::lock(path, List::default())?;
        let text = fs::read(path.join(LIST)).with_context(|| format!("cannot read {shown}"))?;
        folder.list = serde_json::from_slice(&text)
            .with_context(|| format!("{LIST} in {shown} is no list of backups"))?;
        ensure!(
            folder.list.store == store.to_string(),
            "{shown} takes the backups of {}, and this is {store}: take a folder for each store",
            folder.list.store
        );
        // One of which nobody can say whether it is there stays in the list.
        folder.list.backups.retain(|name| path.join(name).try_exists().unwrap_or(true));
        Ok(folder)
    }

    fn lock(path: &Path, list: List) -> Result<Self> {
        let shown = path.display();
        let lock = File::open(path).with_context(|| format!("cannot open {shown}"))?;
        // Each would remove what the other one has not finished.
        lock.try_lock().with_context(|| format!("another backup into {shown} runs"))?;
        let unfinished = empty_folder(path).with_context(|| format!("cannot write to {shown}"))?;
        Ok(Self { path: path.to_owned(), list, unfinished, _lock: lock })
    }

    /// Where the next backup is to be made.
    pub fn unfinished(&self) -> PathBuf {
        self.unfinished.path().join("backup.db")
    }

    /// Gives the backup that was made there its time as its name, and adds it to the list. If this
    /// is killed in between, the backup stays, and the list does not have it.
    pub fn add(&mut self) -> Result<PathBuf> {
        let now = Utc::now();
        let name = (0..3600)
            .map(|seconds| now + TimeDelta::seconds(seconds))
            .map(|time| format!("plant-store-{}.db", time.format("%Y-%m-%dT%H%M%SZ")))
            .find(|name| !self.path.join(name).exists())
            .context("no name is free")?;
        let backup = self.path.join(&name);
        TempPath::try_from_path(self.unfinished())?.persist_noclobber(&backup)?;
        sync(&self.path)?;
        self.list.backups.push(name);
        self.write()?;
        Ok(backup)
    }

    /// How many plants the store had at the last backup that was accepted.
    pub fn plants(&self) -> usize {
        self.list.plants
    }

    /// Accepts the last backup, which has so many plants, and removes all but the last ones.
    pub fn accept(&mut self, plants: usize, keep: NonZeroUsize) -> Result<()> {
        self.list.plants = plants;
        let surplus = self.list.backups.len().saturating_sub(keep.get());
        for name in self.list.backups.drain(..surplus) {
            for suffix in BESIDE {
                remove(&self.path.join(format!("{name}{suffix}")))?;
            }
        }
        self.write()
    }

    /// Writes the list: the file always holds one that is whole.
    fn write(&self) -> Result<()> {
        let text = serde_json::to_string_pretty(&self.list)? + "\n";
        let new = self.unfinished.path().join(LIST);
        let cannot = || format!("cannot write {LIST} in {}", self.path.display());
        let written = fs::write(&new, text).and_then(|()| File::open(&new)?.sync_all());
        written.and_then(|()| fs::rename(&new, self.path.join(LIST))).with_context(cannot)?;
        sync(&self.path).with_context(cannot)
    }
}

/// Whether the folder has a list.
fn is_begun(path: &Path) -> Result<bool> {
    path.join(LIST).try_exists().with_context(|| format!("cannot read {}", path.display()))
}

/// The folder of what is not finished, without what a backup that was killed has left there.
fn empty_folder(path: &Path) -> io::Result<TempDir> {
    match fs::remove_dir_all(path.join(UNFINISHED)) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => tempfile::Builder::new().prefix(UNFINISHED).rand_bytes(0).tempdir_in(path),
    }
}

/// Makes the names in the folder durable.
fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Removes a file of this command, if it is there.
pub fn remove(file: &Path) -> Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", file.display()))
        }
        _ => Ok(()),
    }
}
