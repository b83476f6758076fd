//! `plant-store export`: every plant as a JSON object on a line, in the order of the ids.
//!
//! The export is a consistent snapshot, also while the server writes, and takes constant memory.

use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};

use crate::command::store_args::StoreArgs;
use crate::store::{self, Snapshot, StoreError};

/// Write every plant as a JSON object on a line of its own, in the order of the ids
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(flatten)]
    store: StoreArgs,
}

/// Writes the plants to standard output. EPIPE is no error: the reader (`export | head`) wants no
/// more.
pub fn run(args: &Args) -> Result<()> {
    let engine = store::open(&args.store.url)?;
    let snapshot = engine.snapshot()?;
    let progress = progress(&*snapshot)?;
    match write(&*snapshot, &progress) {
        Err(StoreError::Visit(error)) if error.kind() == ErrorKind::BrokenPipe => {}
        result => result?,
    }
    progress.finish_and_clear();
    Ok(())
}

fn write(snapshot: &dyn Snapshot, progress: &ProgressBar) -> Result<(), StoreError> {
    let mut stdout = BufWriter::new(io::stdout().lock());
    snapshot.visit(&mut |plant| {
        serde_json::to_writer(&mut stdout, &plant)?;
        stdout.write_all(b"\n")?;
        progress.inc(1);
        Ok(())
    })?;
    stdout.flush().map_err(StoreError::Visit)
}

/// Counting reads the whole store, so it is done only if the bar is shown on a terminal.
fn progress(snapshot: &dyn Snapshot) -> Result<ProgressBar> {
    if !io::stderr().is_terminal() {
        return Ok(ProgressBar::hidden());
    }
    let style =
        ProgressStyle::with_template("{bar:40} {human_pos}/{human_len} plants, {eta} left")?;
    Ok(ProgressBar::new(snapshot.count()?).with_style(style))
}
