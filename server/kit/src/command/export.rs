//! `export`: writes all rows as JSON Lines, ordered by id.

use std::fmt::Write;
use std::io::{self, ErrorKind};

use anyhow::{Error, Result, bail};
use groundwork_store::{Mode, Row, read_all};

use crate::command::shared::{StoreArgs, print};
use crate::service::Service;

/// Writes the rows to stdout. A closed pipe, as in `export | head`, is not an error.
pub fn run(service: &'static Service, args: &StoreArgs) -> Result<()> {
    let store = args.open(&service.names, Mode::Read)?;
    match read_all(&*store, |page| print(&lines(service, page)?)) {
        Err(error) if is_broken_pipe(&error) => Ok(()),
        written => written.map(drop),
    }
}

/// Returns a line for each row. The id becomes the first member of the stored object.
fn lines(service: &Service, page: &[Row]) -> Result<String> {
    let mut lines = String::new();
    for Row { id, json } in page {
        match json.strip_prefix('{') {
            Some("}") => writeln!(lines, "{{\"id\":{id}}}")?,
            Some(members) => writeln!(lines, "{{\"id\":{id},{members}")?,
            None => {
                let program = service.names.program;
                bail!("{} {id} is not a JSON object: run `{program} check`", service.resource)
            }
        }
    }
    Ok(lines)
}

fn is_broken_pipe(error: &Error) -> bool {
    let cause = error.downcast_ref::<io::Error>();
    cause.is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}
