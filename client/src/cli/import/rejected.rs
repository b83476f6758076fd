//! Where an import writes what was not created, in the order of the file: the records as they are,
//! in a file that can be corrected and imported, and beside it why.
//!
//! A file of the user is never truncated, followed through a link or removed: the import writes to
//! new files beside the names, and moves them there at the end, if something was rejected. If a
//! name is taken, for example by those of a run before, the next number is added to it.

use std::ffi::OsStr;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use serde_json::Value;
use tempfile::{NamedTempFile, PersistError};

use super::format::Format;
use super::record::Record;

type New = BufWriter<NamedTempFile>;

/// The names of the two files.
pub struct Names {
    pub records: PathBuf,
    pub reasons: PathBuf,
}

/// The rejected records of an import.
pub enum Rejected {
    /// Two files, if something is rejected. `header` is what the records begin with.
    Files { path: PathBuf, header: Vec<u8>, records: New, reasons: New, is_empty: bool },
    /// The reasons alone, on standard error.
    StandardError,
}

/// The name if the user gives none: beside the file, or in the current folder if the file is a
/// stream, which has no folder of the user's.
pub fn default_path(file: &Path, format: Format) -> PathBuf {
    let is_standard_input = ["-", "/dev/stdin"].map(Path::new).contains(&file);
    let is_descriptor = file.starts_with("/dev/fd") || file.starts_with("/proc");
    let is_stream = is_standard_input || is_descriptor;
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
        let folder = folder.unwrap_or(Path::new("."));
        let new = || {
            let file = builder.tempfile_in(folder).with_context(|| {
                let path = path.display();
                format!("cannot write {path}: name another file with --rejected")
            });
            file.map(BufWriter::new)
        };
        let records = new()?;
        let reasons = new()?;
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
    pub fn finish(self) -> Result<Option<Names>> {
        let Self::Files { path, records, reasons, is_empty: false, .. } = self else {
            return Ok(None);
        };
        let whole = |file: New| {
            let file = file.into_inner().map_err(io::IntoInnerError::into_error);
            file.with_context(|| format!("cannot write {}", path.display()))
        };
        let records = whole(records)?;
        let reasons = whole(reasons)?;
        let mut names_of_runs = (1..=u32::MAX).map(|run| Names::of_run(&path, run));
        let names = names_of_runs.find(Names::are_free).context("every name is taken")?;
        // The records first: they are what nobody else has.
        rename(records, &names.records)?;
        rename(reasons, &names.reasons)?;
        Ok(Some(names))
    }
}

impl Names {
    /// The names that the run of this number gives its files.
    fn of_run(path: &Path, run: u32) -> Self {
        let with_ending = |ending: &str| {
            if run == 1 {
                path.with_extension(ending)
            } else if ending.is_empty() {
                path.with_extension(run.to_string())
            } else {
                path.with_extension(format!("{run}.{ending}"))
            }
        };
        let ending = path.extension().map(OsStr::to_string_lossy).unwrap_or_default();
        Self { records: with_ending(&ending), reasons: with_ending("reasons.jsonl") }
    }

    fn are_free(&self) -> bool {
        [&self.records, &self.reasons].into_iter().all(|name| {
            name.symlink_metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound)
        })
    }
}

fn rename(file: NamedTempFile, name: &Path) -> Result<()> {
    file.persist_noclobber(name).map_err(|failed| kept(failed, name))?;
    Ok(())
}

/// Leaves the file where it is, and says where.
fn kept(failed: PersistError, name: &Path) -> anyhow::Error {
    let cause = anyhow!(failed.error);
    let kept = match failed.file.keep() {
        Ok((_, path)) => path.display().to_string(),
        Err(_) => "nothing".to_owned(),
    };
    let name = name.display();
    cause.context(format!("{kept} holds what was refused or given up: cannot rename it to {name}"))
}
