//! Writing to stdout.

use std::io::{self, Write};

use anyhow::{Context, Result};

/// Writes to stdout and flushes it. The error mentions stdout.
pub fn print(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    written.context("cannot write to standard output")
}
