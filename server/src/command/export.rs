//! `plant-store export`: writes all plants as JSON Lines, ordered by id.

use std::fmt::Write;
use std::io::{self, ErrorKind};

use anyhow::{Error, Result, bail};
use plant_store_store::{Row, read_all};

use crate::command::shared::output::print;
use crate::command::shared::store_args::StoreArgs;

/// Writes the plants to stdout. A closed pipe, as in `export | head`, is not an error.
pub fn run(args: &StoreArgs) -> Result<()> {
    let store = args.open_to_read()?;
    match read_all(&*store, |page| print(&lines(page)?)) {
        Err(error) if is_broken_pipe(&error) => Ok(()),
        written => written.map(drop),
    }
}

/// Returns a line for each plant. The id becomes the first member of the stored object.
fn lines(page: &[Row]) -> Result<String> {
    let mut lines = String::new();
    for Row { id, json } in page {
        match json.strip_prefix('{') {
            Some("}") => writeln!(lines, "{{\"id\":{id}}}")?,
            Some(members) => writeln!(lines, "{{\"id\":{id},{members}")?,
            None => bail!("plant {id} is not a JSON object: run `plant-store check`"),
        }
    }
    Ok(lines)
}

fn is_broken_pipe(error: &Error) -> bool {
    let cause = error.downcast_ref::<io::Error>();
    cause.is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}
