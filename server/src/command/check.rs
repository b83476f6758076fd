//! `plant-store check`: whether a store is sound, and what is in it.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use bytesize::ByteSize;
use plant_store_store::{Reason, Row, StoreError};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::command::common::{StoreArgs, for_each_page, print};

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
#[derive(Serialize)]
struct Report {
    /// Null if the store cannot be checked.
    sound: Option<bool>,
    /// Why it cannot be checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<Reason>,
    faults: Vec<String>,
    /// By their names in the JSON object.
    #[serde(flatten)]
    amounts: BTreeMap<&'static str, u64>,
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
    } else if report.sound == Some(true) {
        let amounts = &report.amounts;
        let (plants, tokens) = (amounts["plants"], amounts["tokens"]);
        let mut line = format!("{url} is sound; plants: {plants}, tokens: {tokens}");
        for (name, what) in [("store_bytes", "size"), ("wal_bytes", "WAL")] {
            let said = amounts.get(name).map(|bytes| format!(", {what}: {}", ByteSize(*bytes)));
            line += &said.unwrap_or_default();
        }
        print(&(line + "\n"))?;
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
    let read = read(store, &mut faults);
    let reason = read.as_ref().err().and_then(|fault| {
        let reason = fault.downcast_ref().map_or(Reason::Other, StoreError::reason);
        // What was found before says why it cannot be read.
        let is_unsound = reason == Reason::Damaged || !faults.is_empty();
        faults.push(format!("{fault:#}"));
        (!is_unsound).then_some(reason)
    });
    let sound = reason.is_none().then_some(faults.is_empty());
    Report { sound, reason, faults, amounts: read.unwrap_or_default() }
}

/// Has the database check itself, and reads every row.
fn read(args: &StoreArgs, faults: &mut Vec<String>) -> Result<BTreeMap<&'static str, u64>> {
    let store = args.open()?;
    faults.extend(store.check()?);
    let (mut plants, mut malformed) = (0, Vec::new());
    let is_malformed = |row: &&Row| serde_json::from_str::<Map<String, Value>>(&row.plant).is_err();
    for_each_page(&args.url, &*store, |page| {
        malformed.extend(page.iter().filter(is_malformed).map(|row| row.id));
        plants += page.len() as u64;
        Ok(())
    })?;
    if !malformed.is_empty() {
        let (count, some) = (malformed.len(), &malformed[..malformed.len().min(10)]);
        faults.push(format!("plants that are not JSON objects: {count}, such as the ids {some:?}"));
    }
    let (tokens, sizes) = (store.tokens()?.len() as u64, store.sizes());
    let mut amounts = BTreeMap::from([("plants", plants), ("tokens", tokens)]);
    amounts.extend(sizes.store.map(|bytes| ("store_bytes", bytes)));
    amounts.extend(sizes.wal.map(|bytes| ("wal_bytes", bytes)));
    Ok(amounts)
}
