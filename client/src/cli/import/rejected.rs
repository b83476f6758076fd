//! Where an import writes what was not created, in the order of the file: the records as they are,
//! in a file that can be corrected and imported, and beside it why.
//!
//! A file of the user is never truncated, followed through a link or removed: the import writes to
//! new files beside the names, and moves them there at the end, if something was rejected. If a name
//! is taken, for example by those of a run before, the next number is added to it.

use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use serde_json::Value;
use tempfile::{NamedTempFile, PersistError};

use super::source::{Format, Record};

type New = BufWriter<NamedTempFile>;

/// The rejected records of an import.
pub enum Rejected {
    /// Two files, if something is rejected.
    Files { path: PathBuf, header: Vec<u8>, records: New, reasons: New, is_empty: bool },
    /// The reasons alone, on standard error.
    StandardError,
}

/// The name if the user gives none: beside the file, or in the current folder if the file is a
/// stream, which has no folder of the user's.
pub fn default_path(file: &Path, format: Format) -> PathBuf {
    let streams = ["-", "/dev/stdin"].map(Path::new);
    let is_stream =
        streams.contains(&file) || file.starts_with("/dev/fd") || file.starts_with("/proc");
    let mut name = if is_stream { "stdin".into() } else { file.as_os_str().to_owned() };
    name.push(if format == Format::Csv { ".rejected.csv" } else { ".rejected.jsonl" });
    name.into()
}

impl Rejected {
    /// Fails if the folder of the name takes no file. `header` is what the records begin with.
    pub fn new(path: PathBuf, header: Vec<u8>) -> Result<Self> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let mut builder = tempfile::Builder::new();
        builder.prefix(".plants-rejected-");
        // As for any new file, the umask decides who may read it.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let new = || builder.tempfile_in(folder.unwrap_or(Path::new("."))).map(BufWriter::new);
        let new = || {
            new().with_context(|| {
                let path = path.display();
                format!("cannot write {path}: name another file with --rejected")
            })
        };
        let (records, reasons) = (new()?, new()?);
        Ok(Self::Files { path, header, records, reasons, is_empty: true })
    }

    /// Adds a record, and why it was rejected.
    pub fn write(&mut self, record: &mut Record, reason: &Value) -> io::Result<()> {
        let Self::Files { header, records, reasons, is_empty, .. } = self else {
            return writeln!(io::stderr(), "{reason}");
        };
        if std::mem::take(is_empty) {
            records.write_all(header)?;
        }
        records.write_all(&record.text)?;
        if let Some(rest) = &mut record.rest {
            io::copy(rest, records)?;
        }
        records.write_all(b"\n")?;
        writeln!(reasons, "{reason}")
    }

    /// Gives the files their names, and returns these if there are files.
    pub fn finish(self) -> Result<Option<[PathBuf; 2]>> {
        let Self::Files { path, records, reasons, is_empty: false, .. } = self else {
            return Ok(None);
        };
        let whole = |file: New| file.into_inner().map_err(io::IntoInnerError::into_error);
        let cannot_write = || format!("cannot write {}", path.display());
        let files = [whole(records), whole(reasons)]
            .map(|file| file.with_context(cannot_write))
            .into_iter()
            .collect::<Result<Vec<_>>>()?;
        let is_free = |path: &PathBuf| {
            path.symlink_metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound)
        };
        let mut names_of_runs = (1..=u32::MAX).map(|number| names(&path, number));
        let names = names_of_runs.find(|names| names.iter().all(is_free));
        let names = names.context("every name is taken")?;
        // The records first: they are what nobody else has.
        for (name, file) in names.iter().zip(files) {
            file.persist_noclobber(name).map_err(|failed| kept(failed, name))?;
        }
        Ok(Some(names))
    }
}

/// Of the records and of the reasons, in the run of this number.
fn names(path: &Path, number: u32) -> [PathBuf; 2] {
    let number = (number > 1).then(|| number.to_string());
    let ending = path.extension().map(|ending| ending.to_string_lossy().into_owned());
    [ending, Some("reasons.jsonl".to_owned())].map(|ending| {
        let parts = number.clone().into_iter().chain(ending);
        path.with_extension(parts.collect::<Vec<_>>().join("."))
    })
}

/// Leaves the file where it is, and says where.
fn kept(failed: PersistError, name: &Path) -> anyhow::Error {
    let kept = failed.file.keep().map_or("nothing".into(), |(_, kept)| kept.display().to_string());
    let name = name.display();
    let why = format!("{kept} holds what was refused or given up: cannot rename it to {name}");
    anyhow!(failed.error).context(why)
}
