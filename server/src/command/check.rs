//! `plant-store check`: whether a store is sound, and what is in it.

use anyhow::{Error, Result, bail};
use bytesize::ByteSize;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::command::pages::for_each_page;
use crate::command::print;
use crate::command::store_args::StoreArgs;
use crate::store::{Engine, Reason, Row, Sizes, StoreError, StoreUrl};

/// How many malformed plants are named.
const MOST_NAMED: u64 = 10;

/// Check whether the store is sound, also while a server runs on it
///
/// Has the database check its file, and reads every row. The exit status is 0 if the store is
/// sound, 1 if it is not, and 2 if it cannot be checked.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// As a JSON object
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    store: StoreArgs,
}

/// What was found. What could not be read is not there.
#[derive(Default, Serialize)]
struct Report {
    /// Null if the store cannot be checked.
    sound: Option<bool>,
    /// Why it cannot be checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<Reason>,
    faults: Vec<String>,
    #[serde(flatten)]
    contents: Option<Amounts>,
}

#[derive(Serialize)]
struct Amounts {
    plants: u64,
    tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    store_bytes: Option<u64>,
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
    let report = look(&args.store).unwrap_or_else(|fault| of_fault(&fault));
    let Report { sound, faults, contents, .. } = &report;
    if args.json {
        print(&(serde_json::to_string_pretty(&report)? + "\n"))?;
    } else if let (Some(true), Some(amounts)) = (sound, contents) {
        let Amounts { plants, tokens, .. } = amounts;
        let mut line = format!("{url} is sound; plants: {plants}, tokens: {tokens}");
        for (what, bytes) in [("size", amounts.store_bytes), ("WAL", amounts.wal_bytes)] {
            line += &bytes.map(|it| format!(", {what}: {}", ByteSize(it))).unwrap_or_default();
        }
        print(&(line + "\n"))?;
    }
    let cause = faults.join("; ");
    match sound {
        Some(true) => Ok(()),
        Some(false) => bail!("{url} is not sound: {cause}"),
        None => Err(CannotCheck(format!("{url} cannot be checked: {cause}")).into()),
    }
}

fn look(args: &StoreArgs) -> Result<Report> {
    let store = args.open()?;
    let mut faults = store.check()?;
    let contents = match read(&args.url, &*store, &mut faults) {
        Ok(amounts) => Some(amounts),
        // What was found before says why.
        Err(fault) if !faults.is_empty() => {
            faults.push(format!("{fault:#}"));
            None
        }
        Err(fault) => return Err(fault),
    };
    Ok(Report { sound: Some(faults.is_empty()), reason: None, faults, contents })
}

fn of_fault(fault: &Error) -> Report {
    let reason = fault.downcast_ref().map_or(Reason::Other, StoreError::reason);
    let is_damaged = reason == Reason::Damaged;
    Report {
        sound: is_damaged.then_some(false),
        reason: (!is_damaged).then_some(reason),
        faults: vec![format!("{fault:#}")],
        contents: None,
    }
}

/// Reads every row. A plant that is not JSON is a fault, which is said of the first few.
fn read(url: &StoreUrl, store: &dyn Engine, faults: &mut Vec<String>) -> Result<Amounts> {
    let (mut plants, mut malformed) = (0, 0);
    let is_malformed = |row: &&Row| serde_json::from_str::<Map<String, Value>>(&row.plant).is_err();
    for_each_page(url, store, |page| {
        for row in page.iter().filter(is_malformed) {
            malformed += 1;
            if malformed <= MOST_NAMED {
                faults.push(format!("the plant of the id {} is not a JSON object", row.id));
            }
        }
        plants += page.len() as u64;
        Ok(())
    })?;
    if malformed > MOST_NAMED {
        faults.push(format!("{} more plants are not JSON objects", malformed - MOST_NAMED));
    }
    let tokens = store.tokens()?.len() as u64;
    let Sizes { store: store_bytes, wal: wal_bytes, .. } = store.sizes()?;
    Ok(Amounts { plants, tokens, store_bytes, wal_bytes })
}
