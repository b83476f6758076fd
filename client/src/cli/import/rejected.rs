//! Where an import writes what was not created.
//!
//! A file of the user is never truncated, followed through a link or removed: the import writes to a
//! new file beside the name, and moves it there at the end, if something was rejected and the name
//! is still free.

use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use serde_json::Value;
use tempfile::NamedTempFile;

/// The rejected lines of an import.
pub enum Rejected {
    /// A file with this name, if something is rejected.
    File { path: PathBuf, file: BufWriter<NamedTempFile>, is_empty: bool },
    /// The name `-`.
    StandardError,
}

/// The name if the user gives none: beside the file, or in the current folder if the file is a
/// stream, which has no folder of the user's.
pub fn default_path(file: &Path) -> PathBuf {
    let streams = ["-", "/dev/stdin"].map(Path::new);
    let is_stream =
        streams.contains(&file) || file.starts_with("/dev/fd") || file.starts_with("/proc");
    let mut name = if is_stream { "stdin".into() } else { file.as_os_str().to_owned() };
    name.push(".rejected.jsonl");
    name.into()
}

impl Rejected {
    /// Fails if the name is taken, also by a link to nothing, or if its folder takes no file.
    pub fn new(path: PathBuf) -> Result<Self> {
        if path == Path::new("-") {
            return Ok(Self::StandardError);
        }
        match path.symlink_metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(cannot_write(&path, error)),
            Ok(_) => bail!(
                "{} is already there: move it away, or name another file with --rejected",
                path.display()
            ),
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let mut builder = tempfile::Builder::new();
        builder.prefix(".plants-rejected-");
        // As for any new file, the umask decides who may read it.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder
            .tempfile_in(folder.unwrap_or(Path::new(".")))
            .map_err(|error| cannot_write(&path, error))?;
        Ok(Self::File { path, file: BufWriter::new(file), is_empty: true })
    }

    pub fn write(&mut self, line: &Value) -> io::Result<()> {
        match self {
            Self::File { file, is_empty, .. } => {
                *is_empty = false;
                writeln!(file, "{line}")
            }
            Self::StandardError => writeln!(io::stderr(), "{line}"),
        }
    }

    /// Gives the file its name. Returns the name if there is a file.
    pub fn finish(self) -> Result<Option<PathBuf>> {
        let Self::File { path, file, is_empty: false } = self else { return Ok(None) };
        let file = file.into_inner().map_err(|error| cannot_write(&path, error.into_error()))?;
        match file.persist_noclobber(&path) {
            Ok(_) => Ok(Some(path)),
            Err(failed) => {
                let (_, kept) = failed.file.keep().context("cannot keep what was not created")?;
                let (kept, path) = (kept.display(), path.display());
                let why = format!("{kept} says what was not created: cannot rename it to {path}");
                Err(anyhow!(failed.error).context(why))
            }
        }
    }
}

fn cannot_write(path: &Path, error: io::Error) -> anyhow::Error {
    let path = path.display();
    anyhow!(error).context(format!("cannot write {path}: name another file with --rejected"))
}
