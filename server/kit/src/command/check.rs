//! `check`: checks whether a store is sound, and reports its contents.

use anyhow::{Error, Result, bail};
use bytesize::ByteSize;
use groundwork_store::{Kind, Mode, Sizes, read_all};
use serde_json::{Value, json};

use crate::command::shared::{StoreArgs, error_message, kind_of, print};
use crate::service::Service;

/// The maximum number of malformed rows that a fault lists.
const MAX_LISTED: usize = 10;

/// Check whether the store is sound, even while a server runs on it
///
/// Runs the integrity check of the database, and reads every row. The digest covers the ids and the
/// {resources}; `copy` prints the same digest. The exit code is 0 if the store is sound, 1 if it is
/// not, and 2 if it cannot be checked.
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

/// The contents of a store that was read to its end.
struct Summary {
    /// The digest of the ids and the texts of the rows. `copy` prints the same digest.
    digest: String,
    rows: u64,
    sizes: Sizes,
    tokens: usize,
}

/// Runs the integrity check of the database, reads every row, and prints the result. Returns an
/// error if the store is not sound or cannot be checked.
pub fn run(service: &'static Service, args: &Args) -> Result<()> {
    let mut faults = Vec::new();
    let contents = read(service, &args.store, &mut faults);
    // `None` if the store cannot be checked.
    let sound = match &contents {
        Ok(_) => Some(faults.is_empty()),
        Err(error) => (!faults.is_empty() || is_damage(error)).then_some(false),
    };
    // The faults found so far explain why the rest cannot be read.
    if let Err(error) = &contents
        && faults.is_empty()
    {
        faults.push(error_message(service, error));
    }
    let (url, resources) = (&args.store.url, service.names.table);
    if args.json {
        let mut report = json!({ "sound": sound, "faults": faults });
        if let Ok(contents) = &contents {
            contents.add_to(&mut report, resources);
        }
        print(&(serde_json::to_string_pretty(&report)? + "\n"))?;
    }
    let faults = faults.join("; ");
    match (sound, contents) {
        (Some(true), Ok(_)) if args.json => Ok(()),
        (Some(true), Ok(contents)) => {
            print(&format!("{url} is sound; {}\n", contents.line(resources)))
        }
        (None, _) => Err(CannotCheck(format!("{url} cannot be checked: {faults}")).into()),
        _ => bail!("{url} is not sound: {faults}"),
    }
}

fn is_damage(error: &Error) -> bool {
    matches!(kind_of(error), Some(Kind::Damaged | Kind::Incomplete))
}

/// Reads the store. Adds the faults to `faults`, even if reading fails later.
fn read(service: &'static Service, args: &StoreArgs, faults: &mut Vec<String>) -> Result<Summary> {
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
    let digest = contents.digest();
    Ok(Summary { digest, rows: contents.rows, sizes, tokens: store.tokens()?.len() })
}

impl Summary {
    /// Adds the contents to a report. It lacks the sizes that are not known.
    fn add_to(&self, report: &mut Value, resources: &str) {
        report["digest"] = json!(self.digest);
        report[resources] = json!(self.rows);
        report["tokens"] = json!(self.tokens);
        for (name, bytes) in [("store_bytes", self.sizes.store), ("wal_bytes", self.sizes.wal)] {
            if let Some(bytes) = bytes {
                report[name] = json!(bytes);
            }
        }
    }

    fn line(&self, resources: &str) -> String {
        let size_of = |name, bytes: Option<u64>| {
            bytes.map(|bytes| format!(", {name}: {}", ByteSize(bytes))).unwrap_or_default()
        };
        format!(
            "{resources}: {}, tokens: {}{}{}, digest: {}",
            self.rows,
            self.tokens,
            size_of("size", self.sizes.store),
            size_of("WAL", self.sizes.wal),
            self.digest
        )
    }
}
