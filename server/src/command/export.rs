//! `plant-store export`: writes every plant as one JSON object a line, in the order of the ids.

use std::fmt::Write;
use std::io::{self, ErrorKind};

use anyhow::{Result, bail};
use plant_store_store::Row;

use crate::command::common::{StoreArgs, for_each_page, print};

/// Writes the plants to standard output. A closed pipe, as in `export | head`, is not an error.
pub fn run(store: &StoreArgs) -> Result<()> {
    let written = for_each_page(&store.url, &*store.open()?, |page| {
        let mut lines = String::new();
        for Row { id, plant } in page {
            // The id becomes the first member of the kept object.
            match plant.strip_prefix('{') {
                Some("}") => writeln!(lines, "{{\"id\":{id}}}")?,
                Some(members) => writeln!(lines, "{{\"id\":{id},{members}")?,
                None => bail!("the plant of the id {id} is not a JSON object: see `check`"),
            }
        }
        print(&lines)
    });
    written.or_else(|error| match error.downcast_ref().map(io::Error::kind) {
        Some(ErrorKind::BrokenPipe) => Ok(()),
        _ => Err(error),
    })
}
