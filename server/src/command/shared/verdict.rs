//! Checks whether a store is sound, and reports its contents.

use anyhow::{Error, Result, bail};
use bytesize::ByteSize;
use plant_store_api::types::Plant;
use plant_store_store::{Checked, ContentDigest, Reason, Row, StoreError};
use serde::Serialize;

use crate::command::shared::error_message::error_message;
use crate::command::shared::pages::{Incomplete, for_each_page};
use crate::command::shared::store_args::StoreArgs;

/// The maximum number of malformed rows that a fault lists.
const MAX_LISTED: usize = 10;

/// The result of checking a store.
pub enum Verdict {
    Sound(Contents),
    Unsound {
        /// At least one fault.
        faults: Vec<String>,
        /// `None` if the store could not be read to its end.
        contents: Option<Contents>,
    },
    /// The store cannot be checked.
    Unchecked {
        cause: String,
    },
}

/// The contents of a store that was read to its end.
#[derive(Serialize)]
pub struct Contents {
    /// The digest of the ids and the texts of the plants. `copy` prints the same digest.
    pub digest: String,
    pub plants: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store_bytes: Option<u64>,
    pub tokens: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wal_bytes: Option<u64>,
}

/// The store cannot be checked.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct CannotCheck(String);

impl Verdict {
    /// Runs the integrity check of the database, and reads every row.
    pub fn of(store: &StoreArgs) -> Self {
        let mut faults = Vec::new();
        match read(store, &mut faults) {
            Ok(contents) if faults.is_empty() => Self::Sound(contents),
            Ok(contents) => Self::Unsound { faults, contents: Some(contents) },
            // The faults found so far explain why the rest cannot be read.
            Err(_) if !faults.is_empty() => Self::Unsound { faults, contents: None },
            Err(error) if is_damage(&error) => {
                Self::Unsound { faults: vec![error_message(&error)], contents: None }
            }
            Err(error) => Self::Unchecked { cause: error_message(&error) },
        }
    }

    /// Returns the contents if the store is sound, or else an error that names the store.
    pub fn require_sound(self, store: &StoreArgs) -> Result<Contents> {
        let url = &store.url;
        match self {
            Self::Sound(contents) => Ok(contents),
            Self::Unsound { faults, .. } => bail!("{url} is not sound: {}", faults.join("; ")),
            Self::Unchecked { cause } => {
                Err(CannotCheck(format!("{url} cannot be checked: {cause}")).into())
            }
        }
    }
}

fn is_damage(error: &Error) -> bool {
    let reason = error.downcast_ref().map(StoreError::reason);
    reason == Some(Reason::Damaged) || error.is::<Incomplete>()
}

/// Reads the store. Adds the faults to `faults`, even if reading fails later.
fn read(args: &StoreArgs, faults: &mut Vec<String>) -> Result<Contents> {
    let store = args.open()?;
    let Checked { faults: found, sizes } = store.check()?;
    faults.extend(found);
    let mut digest = ContentDigest::default();
    let mut malformed = Vec::new();
    let plants = for_each_page(&*store, |page| {
        digest.add(page);
        malformed.extend(page.iter().filter(|row| !is_plant(row)).map(|row| row.id));
        Ok(())
    })?;
    if !malformed.is_empty() {
        let count = malformed.len();
        let listed = &malformed[..count.min(MAX_LISTED)];
        faults.push(format!("rows that are not a Plant: {count}, for example the ids {listed:?}"));
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

/// Returns whether the row is a plant as the service writes it. serde alone would also accept an
/// array.
fn is_plant(row: &Row) -> bool {
    row.json.starts_with('{') && serde_json::from_str::<Plant>(&row.json).is_ok()
}

impl Contents {
    /// Summarizes the contents in one line.
    pub fn summary(&self) -> String {
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
