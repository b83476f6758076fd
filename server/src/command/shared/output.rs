//! Standard output.

use std::io::{self, Write};

use anyhow::{Context, Result};

/// Writes to standard output. An error says that it was standard output.
pub fn print(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    written.context("cannot write to standard output")
}
