//! The file of what was not created: `FILE.rejected.jsonl`.

use std::fs::{self, File};
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Serialize;

/// It is there only if something was not created.
pub struct Rejected {
    path: PathBuf,
    file: Option<BufWriter<File>>,
}

#[derive(Serialize)]
struct Refused<'a> {
    line: u64,
    /// None, if no answer came.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<i32>,
    message: &'a str,
}

impl Rejected {
    /// Removes the file of the run before.
    pub fn beside(import: &Path) -> Result<Self> {
        let name = if import == Path::new("-") { Path::new("stdin") } else { import };
        let path = PathBuf::from(format!("{}.rejected.jsonl", name.display()));
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(error).with_context(|| format!("cannot remove {}", path.display()))
            }
            _ => Ok(Self { path, file: None }),
        }
    }

    /// Adds a line.
    pub fn write(&mut self, line: u64, error: Option<i32>, message: &str) -> Result<()> {
        let mut json = serde_json::to_vec(&Refused { line, error, message })?;
        json.push(b'\n');
        self.write_all(&json).with_context(|| format!("cannot write {}", self.path.display()))
    }

    fn write_all(&mut self, json: &[u8]) -> std::io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(BufWriter::new(File::create(&self.path)?)),
        };
        file.write_all(json)
    }

    /// Writes what is still in memory.
    pub fn finish(&mut self) -> Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        file.flush().with_context(|| format!("cannot write {}", self.path.display()))?;
        eprintln!("plants: what was not created is in {}", self.path.display());
        Ok(())
    }
}
