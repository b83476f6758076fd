//! Replaces and removes files durably. Only for files that are not an open store.

use std::fs::{self, File, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::{Context, Result};

/// Atomically replaces the file with a new file of this text and mode, durably. Readers see either
/// the old file or the new file, never a part.
pub fn replace(file: &Path, text: &str, mode: u32) -> Result<()> {
    let folder = file.parent().unwrap_or(Path::new("/"));
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".unfinished");
    // A killed process may have left this file behind.
    remove(&folder.join(&name))?;
    let mut new = tempfile::Builder::new()
        .permissions(Permissions::from_mode(mode))
        .prefix(&name)
        .rand_bytes(0)
        .tempfile_in(folder)?;
    new.write_all(text.as_bytes())?;
    new.as_file().sync_all()?;
    new.persist(file)?;
    Ok(File::open(folder).and_then(|folder| folder.sync_all())?)
}

/// Removes a file of this command if it exists.
pub fn remove(file: &Path) -> Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", file.display()))
        }
        _ => Ok(()),
    }
}
