//! Detects whether stdout is discarded.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;

/// Returns whether stdout is /dev/null, so that nobody would see a printed token. If stdout was
/// closed when the process started, Rust's runtime has opened /dev/null in its place.
pub fn is_stdout_discarded() -> bool {
    let null = fs::metadata("/dev/null");
    let output = output_metadata();
    null.is_ok_and(|null| output.is_ok_and(|output| output.rdev() == null.rdev()))
}

fn output_metadata() -> io::Result<fs::Metadata> {
    let output = io::stdout().as_fd().try_clone_to_owned()?;
    File::from(output).metadata()
}
