//! `plant-store check`: whether a store is sound, and what is in it.

use std::io::{self, Write};

use anyhow::{Result, ensure};
use bytesize::ByteSize;
use serde::Serialize;

use crate::command::progress;
use crate::command::store_args::StoreArgs;
use crate::store::{self, Sizes, Store, StoreUrl};

/// Check whether the store is sound, also while a server runs on it
///
/// Has the database check its file, and reads every row. The exit status is 0 if the store is
/// sound and 1 if it is not.
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
    sound: bool,
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

/// Prints the report.
pub fn run(args: &Args) -> Result<()> {
    let url = &args.store.url;
    let report = match look(url) {
        Ok(report) => report,
        Err(fault) => Report { faults: vec![format!("{fault:#}")], ..Report::default() },
    };
    let mut stdout = io::stdout();
    if args.json {
        writeln!(stdout, "{}", serde_json::to_string_pretty(&report)?)?;
    } else if report.sound
        && let Some(amounts) = &report.contents
    {
        let Amounts { plants, tokens, store_bytes, wal_bytes } = amounts;
        write!(stdout, "{url} is sound; plants: {plants}, tokens: {tokens}")?;
        for (what, bytes) in [("size", store_bytes), ("WAL", wal_bytes)] {
            if let Some(bytes) = bytes {
                write!(stdout, ", {what}: {}", ByteSize(*bytes))?;
            }
        }
        writeln!(stdout)?;
    }
    ensure!(report.sound, "{url} is not sound: {}", report.faults.join("; "));
    Ok(())
}

fn look(url: &StoreUrl) -> Result<Report> {
    let store = store::open(url)?;
    let mut faults = store.check()?;
    let contents = match read(&*store) {
        Ok(amounts) => Some(amounts),
        // What was found before says why.
        Err(fault) => {
            faults.push(format!("{fault:#}"));
            None
        }
    };
    Ok(Report { sound: faults.is_empty(), faults, contents })
}

fn read(store: &dyn Store) -> Result<Amounts> {
    let bar = progress::of_plants(store)?;
    let mut plants = 0;
    for page in store.plants()? {
        let page = page?.len() as u64;
        plants += page;
        bar.inc(page);
    }
    bar.finish_and_clear();
    let tokens = store.tokens()?.len() as u64;
    let Sizes { store: store_bytes, wal: wal_bytes, .. } = store.sizes()?;
    Ok(Amounts { plants, tokens, store_bytes, wal_bytes })
}
