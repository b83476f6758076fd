//! `plant-store export`: writes every plant as one JSON object a line, in the order of the ids.
//!
//! In constant memory, while the server writes.

use std::io::{self, BufWriter, ErrorKind, Write};

use anyhow::Result;
use indicatif::ProgressBar;

use crate::command::progress;
use crate::command::stdout::stdout;
use crate::command::store_args::StoreArgs;
use crate::store::{self, Contents};

/// Write every plant as a JSON object on a line of its own, in the order of the ids
///
/// Every plant that is in the store when the command starts is written. Of those that are created
/// meanwhile, some are.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(flatten)]
    store: StoreArgs,
}

/// Writes the plants to standard output. A closed pipe, as in `export | head`, is not an error.
pub fn run(args: &Args) -> Result<()> {
    let store = store::open(&args.store.url)?;
    let bar = progress::of_plants(&*store)?;
    match write(&*store, &bar) {
        Err(error) if is_broken_pipe(&error) => {}
        result => result?,
    }
    bar.finish_and_clear();
    Ok(())
}

fn write(store: &dyn Contents, bar: &ProgressBar) -> Result<()> {
    let mut stdout = BufWriter::new(stdout());
    for page in store.plants()? {
        for plant in &page? {
            serde_json::to_writer(&mut stdout, plant)?;
            stdout.write_all(b"\n")?;
            bar.inc(1);
        }
    }
    Ok(stdout.flush()?)
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let kind = match error.downcast_ref::<io::Error>() {
        Some(error) => Some(error.kind()),
        None => error.downcast_ref().and_then(serde_json::Error::io_error_kind),
    };
    kind == Some(ErrorKind::BrokenPipe)
}
