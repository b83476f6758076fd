//! Standard output.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;

use anyhow::{Context, Result};

/// Writes to standard output. An error says that it was standard output.
pub fn print(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    written.context("cannot write to standard output")
}

/// Whether nobody sees what is written to standard output, because it is /dev/null. If it was
/// closed when the process started, Rust's runtime has opened /dev/null in its place.
pub fn is_output_lost() -> bool {
    let null = fs::metadata("/dev/null");
    let output = output_metadata();
    null.is_ok_and(|null| output.is_ok_and(|output| output.rdev() == null.rdev()))
}

fn output_metadata() -> io::Result<fs::Metadata> {
    let output = io::stdout().as_fd().try_clone_to_owned()?;
    File::from(output).metadata()
}
