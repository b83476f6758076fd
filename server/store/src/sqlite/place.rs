//! The place of a store, where another one is put: so that a crash at any moment leaves a store
//! that starts, or the refusal [`StoreError::RestoreUnfinished`].
//!
//! 1. The new store is made whole and synced, in a folder beside the place. Until here the old one
//!    is as it was, and the folder counts for nothing.
//! 2. The old file is moved into that folder. From here on there is no store in the place, and no
//!    server starts; what is left to do is done by the next call.
//! 3. The old WAL and the other files beside it are moved into the folder. SQLite would use them
//!    with any file in the place.
//! 4. The new file is moved into the place.
//! 5. The folder gets a name with the time. It holds the old store, which can be read there.

use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, chown};
use std::path::{Path, PathBuf};

use chrono::{TimeDelta, Utc};
use nix::unistd::geteuid;

use crate::engine::Engine;
use crate::error::StoreError;
use crate::sqlite::error::failed;
use crate::sqlite::files::{
    BESIDE, beside, folder_of, is_being_restored, lock, restore_folder_of, restored_file_in, sizes,
    sync_folder_of,
};

const PUT: &str = "put the store in its place";

/// What follows the name of the store in the name of the folder of an old one, before the time.
const OLD: &str = ".before-restore-";

/// What is left free of the disk: the new store has a WAL while it is made.
const MARGIN: u64 = 8 * 1024 * 1024;

/// The place of a store, which no server uses and no other process changes.
pub struct Place {
    path: PathBuf,
    /// See step 1.
    folder: PathBuf,
    _lock: File,
    /// If there is a store in the place.
    server_lock: Option<File>,
}

impl Place {
    /// Takes the place of the store, and finishes what was left there.
    pub fn take(path: &Path) -> Result<Self, StoreError> {
        // The files beside a link are beside its file.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let folder = folder_of(&path);
        if !folder.exists() {
            let said = format!("there is no folder {}; is its disk mounted?", folder.display());
            return Err(failed(&path, PUT)(said));
        }
        let lock_of_folder = File::open(folder).map_err(failed(&path, PUT))?;
        if lock_of_folder.try_lock().is_err() {
            return Err(failed(&path, PUT)("another process does that in this folder now"));
        }
        let mut place = Self {
            folder: restore_folder_of(&path),
            path,
            _lock: lock_of_folder,
            server_lock: None,
        };
        place.settle().map_err(failed(&place.path, PUT))?;
        place.server_lock = match File::open(&place.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            file => Some(file.map_err(failed(&place.path, PUT))?),
        };
        place.server_lock.iter().try_for_each(|file| lock(file, &place.path))?;
        Ok(place)
    }

    /// Fails if the disk has no room for a new store of that size.
    pub fn require_room(&self, bytes: u64) -> Result<(), StoreError> {
        let free = sizes(folder_of(&self.path)).disk_free;
        let needed = bytes + MARGIN;
        match free {
            Some(free) if free < needed => {
                let said = format!("{needed} bytes are needed beside it, and {free} are free");
                Err(failed(&self.path, PUT)(io::Error::new(ErrorKind::StorageFull, said)))
            }
            _ => Ok(()),
        }
    }

    /// The file of the store that was put away last, if it is there.
    pub fn last_put_away(&self) -> Option<PathBuf> {
        let name = self.path.file_name()?;
        let prefix = format!("{}{OLD}", name.display());
        let folders = folder_of(&self.path).read_dir().ok()?.flatten();
        let folders =
            folders.filter(|folder| folder.file_name().to_string_lossy().starts_with(&prefix));
        let files = folders.map(|folder| folder.path().join(name)).filter(|file| file.exists());
        files.max()
    }

    /// Makes a store, has `fill` fill it, and puts it in the place. Returns the folder of the old
    /// one, if there was one.
    pub fn put(
        self,
        fill: &mut dyn FnMut(&dyn Engine) -> anyhow::Result<()>,
    ) -> anyhow::Result<Option<PathBuf>> {
        make_folder(&self.folder).map_err(failed(&self.path, PUT))?;
        if let Err(error) = super::fill(&restored_file_in(&self.folder), fill) {
            fs::remove_dir_all(&self.folder).map_err(failed(&self.path, PUT))?;
            return Err(error);
        }
        if self.path.exists() {
            self.put_away(&self.path).map_err(failed(&self.path, PUT))?;
        }
        Ok(self.settle().map_err(failed(&self.path, PUT))?)
    }

    /// Goes on from step 3 if the place is empty, and else ends what was not begun. Returns the
    /// folder of the old store.
    fn settle(&self) -> io::Result<Option<PathBuf>> {
        if is_being_restored(&self.path) {
            for file in BESIDE.map(|suffix| beside(&self.path, suffix)) {
                if file.exists() {
                    self.put_away(&file)?;
                }
            }
            rename(&restored_file_in(&self.folder), &self.path)?;
        }
        match self.folder.read_dir() {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            _ if self.holds_the_old() => self.name_folder().map(Some),
            _ => fs::remove_dir_all(&self.folder).map(|()| None),
        }
    }

    /// Whether the folder has a file of the old store.
    fn holds_the_old(&self) -> bool {
        let name = self.path.file_name().unwrap_or_default();
        let old = self.folder.join(name);
        old.exists() || BESIDE.iter().any(|suffix| beside(&old, suffix).exists())
    }

    /// Moves a file of the old store into the folder.
    fn put_away(&self, file: &Path) -> io::Result<()> {
        rename(file, &self.folder.join(file.file_name().unwrap_or_default()))
    }

    /// Gives the folder its last name.
    fn name_folder(&self) -> io::Result<PathBuf> {
        let now = Utc::now();
        let folder = (0..3600)
            .map(|seconds| (now + TimeDelta::seconds(seconds)).format("%Y-%m-%dT%H%M%SZ"))
            .map(|time| beside(&self.path, &format!("{OLD}{time}")))
            .find(|folder| !folder.exists())
            .ok_or(ErrorKind::AlreadyExists)?;
        rename(&self.folder, &folder)?;
        Ok(folder)
    }
}

/// Makes the folder, for the owner of the one in which it is: the service's user, also if this is
/// root.
fn make_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)?;
    if geteuid().is_root() {
        let owner = fs::metadata(folder_of(path))?;
        let _ = chown(path, Some(owner.uid()), Some(owner.gid()));
    }
    sync_folder_of(path)
}

/// Moves a file or a folder; durable when this returns.
fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)?;
    sync_folder_of(to)?;
    sync_folder_of(from)
}
