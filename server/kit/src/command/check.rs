//! `check`: checks whether a store is sound, and reports its contents.

use anyhow::{Result, bail};
use bytesize::ByteSize;
use groundwork_store::{Kind, Mode, read_all};

use crate::command::shared::{StoreArgs, error_message, kind_of, print};
use crate::service::Service;

/// The maximum number of malformed rows that a fault lists.
const MAX_LISTED: usize = 10;

/// The store cannot be checked.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct CannotCheck(String);

/// Runs the integrity check of the database, reads every row, and prints a line about the contents.
/// Returns an error if the store is not sound or cannot be checked.
pub fn run(service: &'static Service, args: &StoreArgs) -> Result<()> {
    let url = &args.url;
    let mut faults = Vec::new();
    match read(service, args, &mut faults) {
        Ok(contents) if faults.is_empty() => {
            return print(&format!("{url} is sound; {contents}\n"));
        }
        // Otherwise the faults found so far explain why the rest cannot be read.
        Err(error) if faults.is_empty() => {
            let message = error_message(service, &error);
            if kind_of(&error) != Some(Kind::Damaged) {
                return Err(CannotCheck(format!("{url} cannot be checked: {message}")).into());
            }
            faults.push(message);
        }
        _ => {}
    }
    bail!("{url} is not sound: {}", faults.join("; "))
}

/// Reads the store, and describes its contents. Adds the faults to `faults`, even if reading fails
/// later.
fn read(service: &'static Service, args: &StoreArgs, faults: &mut Vec<String>) -> Result<String> {
    let store = args.open(&service.names, Mode::Read)?;
    faults.extend(store.check()?);
    let sizes = store.sizes();
    let mut malformed = Vec::new();
    let contents = read_all(&*store, |page| {
        let rows = page.iter().filter(|row| !(service.is_resource)(&row.json));
        malformed.extend(rows.map(|row| row.id));
        Ok(())
    })?;
    if !malformed.is_empty() {
        let count = malformed.len();
        let listed = &malformed[..count.min(MAX_LISTED)];
        let resource = service.resource;
        faults.push(format!(
            "rows that are not a {resource}: {count}, for example the ids {listed:?}"
        ));
    }
    let size_of = |name, bytes: Option<u64>| {
        bytes.map(|bytes| format!(", {name}: {}", ByteSize(bytes))).unwrap_or_default()
    };
    Ok(format!(
        "{}: {}, tokens: {}{}{}, digest: {}",
        service.names.table,
        contents.rows,
        store.tokens()?.len(),
        size_of("size", sizes.store),
        size_of("WAL", sizes.wal),
        contents.digest()
    ))
}
