//! `plant-store check`: checks whether a store is sound, and reports its contents.

use std::slice;

use anyhow::Result;
use serde::Serialize;

use crate::command::shared::output::print;
use crate::command::shared::store_args::StoreArgs;
use crate::command::shared::verdict::{Contents, Verdict};

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

/// Prints the verdict. Returns an error if the store is not sound or cannot be checked.
pub fn run(args: &Args) -> Result<()> {
    let verdict = Verdict::of(&args.store);
    if args.json {
        print(&(serde_json::to_string_pretty(&Report::of(&verdict))? + "\n"))?;
    }
    let contents = verdict.require_sound(&args.store)?;
    if args.json {
        return Ok(());
    }
    print(&format!("{} is sound; {}\n", args.store.url, contents.summary()))
}

/// The verdict, serialized as JSON.
#[derive(Serialize)]
struct Report<'a> {
    /// `null` if the store cannot be checked.
    sound: Option<bool>,
    faults: &'a [String],
    #[serde(flatten)]
    contents: Option<&'a Contents>,
}

impl<'a> Report<'a> {
    fn of(verdict: &'a Verdict) -> Self {
        match verdict {
            Verdict::Sound(contents) => {
                Self { sound: Some(true), faults: &[], contents: Some(contents) }
            }
            Verdict::Unsound { faults, contents } => {
                Self { sound: Some(false), faults, contents: contents.as_ref() }
            }
            Verdict::Unchecked { cause } => {
                Self { sound: None, faults: slice::from_ref(cause), contents: None }
            }
        }
    }
}
