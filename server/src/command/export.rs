//! `plant-store export`: writes every plant as one JSON object a line, in the order of the ids.

use std::io::{self, BufWriter, ErrorKind, Write};

use anyhow::{Result, bail};

use crate::command::pages::for_each_page;
use crate::command::stdout::stdout;
use crate::command::store_args::StoreArgs;
use crate::store::{Engine, Row};

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
    let store = args.store.open()?;
    match write(&*store) {
        Err(error) if error.downcast_ref().map(io::Error::kind) == Some(ErrorKind::BrokenPipe) => {
            Ok(())
        }
        result => result,
    }
}

fn write(store: &dyn Engine) -> Result<()> {
    let mut stdout = BufWriter::new(stdout());
    for_each_page(store, |page| {
        for Row { id, plant } in page {
            // The id becomes the first member of the kept object.
            match plant.strip_prefix('{') {
                Some("}") => writeln!(stdout, "{{\"id\":{id}}}")?,
                Some(members) => writeln!(stdout, "{{\"id\":{id},{members}")?,
                None => bail!("the plant of the id {id} is not a JSON object: see `check`"),
            }
        }
        Ok(())
    })?;
    Ok(stdout.flush()?)
}
