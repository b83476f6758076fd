//! Where an import writes what was not created, in the order of the file: the records, in a file
//! that can be corrected and imported, and beside it why.
//!
//! A file of the user is never truncated, followed through a link or removed: both files are new,
//! and made when the first record is rejected. If a name is taken, for example by those of a run
//! before, the next number is added to it.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use csv::ByteRecord;
use serde_json::Value;

use super::record::Text;

/// The rejected records of an import.
pub struct Rejected {
    path: PathBuf,
    /// What rows of CSV begin with.
    header: Option<ByteRecord>,
    /// If something was rejected.
    files: Option<Files>,
}

/// The two files. Nothing is kept in memory: a killed import has written what it rejected.
struct Files {
    names: Names,
    records: File,
    reasons: File,
}

/// The names of the two files.
pub struct Names {
    pub records: PathBuf,
    pub reasons: PathBuf,
}

impl Rejected {
    /// Fails if the folder of the name takes no file.
    pub fn new(path: PathBuf, header: Option<ByteRecord>) -> Result<Self> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        // It has no name, so a killed import leaves nothing of it.
        tempfile::tempfile_in(folder.unwrap_or(Path::new("."))).with_context(|| {
            format!("cannot write {}: name another file with --rejected", path.display())
        })?;
        Ok(Self { path, header, files: None })
    }

    /// Adds a record, and why it was rejected.
    pub fn write(&mut self, text: &Text, reason: &Value) -> Result<()> {
        let files = match &mut self.files {
            Some(files) => files,
            none => none.insert(Files::new(&self.path, self.header.as_ref())?),
        };
        match text {
            Text::Line(line) => files.records.write_all(&[line, &b"\n"[..]].concat())?,
            Text::Row(row) => files.records.write_all(&csv(row)?)?,
        }
        Ok(files.reasons.write_all(format!("{reason}\n").as_bytes())?)
    }

    /// The names of the files, if there are any.
    pub fn names(&self) -> Option<&Names> {
        self.files.as_ref().map(|files| &files.names)
    }
}

impl Files {
    fn new(path: &Path, header: Option<&ByteRecord>) -> Result<Self> {
        let mut names = (1..=u32::MAX).map(|run| Names::of_run(path, run));
        let names = names.find(Names::are_free).context("every name is taken")?;
        let mut records = new(&names.records)?;
        if let Some(header) = header {
            records.write_all(&csv(header)?)?;
        }
        Ok(Self { records, reasons: new(&names.reasons)?, names })
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

/// Fails if the name is taken.
fn new(name: &Path) -> io::Result<File> {
    File::create_new(name)
}

/// A row as it is written.
fn csv(row: &ByteRecord) -> Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_byte_record(row)?;
    Ok(writer.into_inner()?)
}
