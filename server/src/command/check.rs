//! `plant-store check`: whether a store is sound, and what is in it.

use anyhow::{Error, Result, bail};
use bytesize::ByteSize;
use plant_store_store::{ContentDigest, Reason, Row, StoreError};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::command::output::print;
use crate::command::pages::for_each_page;
use crate::command::store_args::{NothingToRead, StoreArgs, open_to_read};

/// How many of the malformed plants a fault names.
const MOST_NAMED: usize = 10;

/// Check whether the store is sound, also while a server runs on it
///
/// Has the database check its file, and reads every row. The digest is that of the ids and the
/// plants: `copy` prints the same one. The exit status is 0 if the store is sound, 1 if it is not,
/// and 2 if it cannot be checked.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// As a JSON object
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    store: StoreArgs,
}

/// What was found. What could not be read is not there.
#[derive(Serialize)]
struct Report {
    /// Null if the store cannot be checked.
    sound: Option<bool>,
    /// Why it cannot be checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<Reason>,
    faults: Vec<String>,
    #[serde(flatten)]
    contents: Option<Contents>,
}

/// What is in a store that was read to its end.
#[derive(Serialize)]
struct Contents {
    /// Of the ids and the texts of the plants, as `copy` prints it.
    digest: String,
    plants: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    store_bytes: Option<u64>,
    tokens: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    wal_bytes: Option<u64>,
}

/// The store cannot be checked.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct CannotCheck(String);

/// Prints the report.
pub fn run(args: &Args) -> Result<()> {
    let url = &args.store.url;
    let report = report(&args.store);
    if args.json {
        print(&(serde_json::to_string_pretty(&report)? + "\n"))?;
    } else if report.sound == Some(true)
        && let Some(contents) = &report.contents
    {
        print(&format!("{url} is sound; {}\n", contents.in_words()))?;
    }
    let cause = report.faults.join("; ");
    match report.sound {
        Some(true) => Ok(()),
        Some(false) => bail!("{url} is not sound: {cause}"),
        None => Err(CannotCheck(format!("{url} cannot be checked: {cause}")).into()),
    }
}

fn report(store: &StoreArgs) -> Report {
    let mut faults = Vec::new();
    match read(store, &mut faults) {
        Ok(contents) => {
            let sound = Some(faults.is_empty());
            Report { sound, reason: None, faults, contents: Some(contents) }
        }
        Err(error) => {
            // What was found before says why the rest cannot be read.
            let is_unsound = !faults.is_empty() || reason_of(&error) == Reason::Damaged;
            faults.push(format!("{error:#}"));
            let sound = is_unsound.then_some(false);
            let reason = (!is_unsound).then(|| reason_of(&error));
            Report { sound, reason, faults, contents: None }
        }
    }
}

fn reason_of(error: &Error) -> Reason {
    if error.is::<NothingToRead>() {
        return Reason::Missing;
    }
    error.downcast_ref().map_or(Reason::Other, StoreError::reason)
}

/// Has the database check itself, and reads every row.
fn read(args: &StoreArgs, faults: &mut Vec<String>) -> Result<Contents> {
    let store = open_to_read(&args.url, args.ca.as_deref(), "--store")?;
    faults.extend(store.check()?);
    let mut plants = 0;
    let mut digest = ContentDigest::default();
    let mut malformed = Vec::new();
    for_each_page(&args.url, &*store, |page| {
        plants += page.len();
        digest.add(page);
        malformed.extend(page.iter().filter(|row| !is_object(row)).map(|row| row.id));
        Ok(())
    })?;
    if !malformed.is_empty() {
        let count = malformed.len();
        let some = &malformed[..count.min(MOST_NAMED)];
        faults.push(format!("plants that are not JSON objects: {count}, such as the ids {some:?}"));
    }
    let tokens = store.tokens()?.len();
    let sizes = store.sizes();
    Ok(Contents {
        digest: digest.to_string(),
        plants,
        store_bytes: sizes.store,
        tokens,
        wal_bytes: sizes.wal,
    })
}

fn is_object(row: &Row) -> bool {
    serde_json::from_str::<Map<String, Value>>(&row.plant).is_ok()
}

impl Contents {
    fn in_words(&self) -> String {
        let size_of = |name, bytes: Option<u64>| match bytes {
            Some(bytes) => format!(", {name}: {}", ByteSize(bytes)),
            None => String::new(),
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
