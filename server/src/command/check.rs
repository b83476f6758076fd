//! `plant-store check`: checks whether a store is sound, and reports its contents.

use anyhow::{Error, Result, bail};
use bytesize::ByteSize;
use plant_store_api::types::Plant;
use plant_store_store::{Checked, Incomplete, Reason, Row, StoreError, read_all};
use serde::Serialize;

use crate::command::shared::error_message::error_message;
use crate::command::shared::output::print;
use crate::command::shared::store_args::StoreArgs;

/// The maximum number of malformed rows that a fault lists.
const MAX_LISTED: usize = 10;

/// Check whether the store is sound, even while a server runs on it
///
/// Runs the integrity check of the database, and reads every row. The digest covers the ids and the
/// plants; `copy` prints the same digest. The exit code is 0 if the store is sound, 1 if it is not,
/// and 2 if it cannot be checked.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Print the result as a JSON object
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    store: StoreArgs,
}

/// The store cannot be checked.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct CannotCheck(String);

/// The result of checking a store.
#[derive(Serialize)]
struct Report {
    /// `null` if the store cannot be checked.
    sound: Option<bool>,
    faults: Vec<String>,
    /// `None` if the store could not be read to its end.
    #[serde(flatten)]
    contents: Option<Summary>,
}

/// The contents of a store that was read to its end.
#[derive(Serialize)]
struct Summary {
    /// The digest of the ids and the texts of the plants. `copy` prints the same digest.
    digest: String,
    plants: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    store_bytes: Option<u64>,
    tokens: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    wal_bytes: Option<u64>,
}

/// Prints the report. Returns an error if the store is not sound or cannot be checked.
pub fn run(args: &Args) -> Result<()> {
    let report = Report::of(&args.store);
    if args.json {
        print(&(serde_json::to_string_pretty(&report)? + "\n"))?;
    }
    let url = &args.store.url;
    let faults = report.faults.join("; ");
    match (report.sound, report.contents) {
        (Some(true), Some(_)) if args.json => Ok(()),
        (Some(true), Some(contents)) => print(&format!("{url} is sound; {}\n", contents.line())),
        (None, _) => Err(CannotCheck(format!("{url} cannot be checked: {faults}")).into()),
        _ => bail!("{url} is not sound: {faults}"),
    }
}

impl Report {
    /// Runs the integrity check of the database, and reads every row.
    fn of(store: &StoreArgs) -> Self {
        let mut faults = Vec::new();
        let contents = read(store, &mut faults);
        let sound = match &contents {
            Ok(_) => Some(faults.is_empty()),
            Err(error) => (!faults.is_empty() || is_damage(error)).then_some(false),
        };
        // The faults found so far explain why the rest cannot be read.
        if let Err(error) = &contents
            && faults.is_empty()
        {
            faults.push(error_message(error));
        }
        Self { sound, faults, contents: contents.ok() }
    }
}

fn is_damage(error: &Error) -> bool {
    let reason = error.downcast_ref().map(StoreError::reason);
    reason == Some(Reason::Damaged) || error.is::<Incomplete>()
}

/// Reads the store. Adds the faults to `faults`, even if reading fails later.
fn read(args: &StoreArgs, faults: &mut Vec<String>) -> Result<Summary> {
    let store = args.open_to_read()?;
    let Checked { faults: found, sizes } = store.check()?;
    faults.extend(found);
    let mut malformed = Vec::new();
    let contents = read_all(&*store, |page| {
        malformed.extend(page.iter().filter(|row| !is_plant(row)).map(|row| row.id));
        Ok(())
    })?;
    if !malformed.is_empty() {
        let count = malformed.len();
        let listed = &malformed[..count.min(MAX_LISTED)];
        faults.push(format!("rows that are not a Plant: {count}, for example the ids {listed:?}"));
    }
    Ok(Summary {
        digest: contents.digest(),
        plants: contents.rows,
        store_bytes: sizes.store,
        tokens: store.tokens()?.len(),
        wal_bytes: sizes.wal,
    })
}

/// Returns whether the row is a plant as the service writes it. serde alone would also accept an
/// array.
fn is_plant(row: &Row) -> bool {
    row.json.starts_with('{') && serde_json::from_str::<Plant>(&row.json).is_ok()
}

impl Summary {
    fn line(&self) -> String {
        let size_of = |name, bytes: Option<u64>| {
            bytes.map(|bytes| format!(", {name}: {}", ByteSize(bytes))).unwrap_or_default()
        };
        format!(
            "plants: {}, tokens: {}{}{}, digest: {}",
            self.plants,
            self.tokens,
            size_of("size", self.store_bytes),
            size_of("WAL", self.wal_bytes),
            self.digest
        )
    }
}
