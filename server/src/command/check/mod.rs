//! `plant-store check`: whether a store is sound, and what is in it.

mod verdict;

use anyhow::{Error, Result, bail};
use plant_store_api::types::Plant;
use plant_store_store::{Checked, ContentDigest, Reason, Row, StoreError, StoreUrl};

use crate::command::check::verdict::{Contents, Verdict};
use crate::command::shared::in_words::in_words;
use crate::command::shared::output::print;
use crate::command::shared::pages::for_each_page;
use crate::command::shared::store_args::StoreArgs;

/// How many of the malformed rows a fault names.
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

/// The store cannot be checked.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct CannotCheck(String);

/// Prints the verdict. An error says that the store is not sound, or cannot be checked.
pub fn run(args: &Args) -> Result<()> {
    let url = &args.store.url;
    let verdict = verdict(&args.store);
    if args.json {
        print(&(serde_json::to_string_pretty(&verdict.report())? + "\n"))?;
    }
    let contents = contents_of(verdict, url)?;
    if args.json { Ok(()) } else { print(&format!("{url} is sound; {}\n", contents.in_words())) }
}

/// What is in the store, which must be sound.
pub fn sound(store: &StoreArgs) -> Result<Contents> {
    contents_of(verdict(store), &store.url)
}

fn contents_of(verdict: Verdict, url: &StoreUrl) -> Result<Contents> {
    match verdict {
        Verdict::Sound(contents) => Ok(contents),
        Verdict::Unsound { faults, .. } => bail!("{url} is not sound: {}", faults.join("; ")),
        Verdict::Unchecked { cause, .. } => {
            Err(CannotCheck(format!("{url} cannot be checked: {cause}")).into())
        }
    }
}

fn verdict(store: &StoreArgs) -> Verdict {
    let mut faults = Vec::new();
    match read(store, &mut faults) {
        Ok(contents) if faults.is_empty() => Verdict::Sound(contents),
        Ok(contents) => Verdict::Unsound { faults, contents: Some(contents) },
        Err(error) => {
            let reason = reason_of(&error);
            let cause = in_words(&error);
            // What was found before says why the rest cannot be read.
            if faults.is_empty() && reason != Reason::Damaged {
                return Verdict::Unchecked { reason, cause };
            }
            faults.push(cause);
            Verdict::Unsound { faults, contents: None }
        }
    }
}

fn reason_of(error: &Error) -> Reason {
    error.downcast_ref().map_or(Reason::Other, StoreError::reason)
}

/// Has the database check itself, and reads every row. `faults` gets what is wrong, also if the
/// rest cannot be read.
fn read(args: &StoreArgs, faults: &mut Vec<String>) -> Result<Contents> {
    let store = args.open_to_read()?;
    let Checked { faults: found, sizes } = store.check()?;
    faults.extend(found);
    let mut plants = 0;
    let mut digest = ContentDigest::default();
    let mut malformed = Vec::new();
    for_each_page(&*store, |page| {
        plants += page.len();
        digest.add(page);
        malformed.extend(page.iter().filter(|row| !is_plant(row)).map(|row| row.id));
        Ok(())
    })?;
    if !malformed.is_empty() {
        let count = malformed.len();
        let some = &malformed[..count.min(MOST_NAMED)];
        faults.push(format!("rows that are no Plant: {count}, such as the ids {some:?}"));
    }
    let tokens = store.tokens()?.len();
    Ok(Contents {
        digest: digest.to_string(),
        plants,
        store_bytes: sizes.store,
        tokens,
        wal_bytes: sizes.wal,
    })
}

/// Whether the row is as the service writes one. serde would take an array, too.
pub fn is_plant(row: &Row) -> bool {
    row.plant.starts_with('{') && serde_json::from_str::<Plant>(&row.plant).is_ok()
}
