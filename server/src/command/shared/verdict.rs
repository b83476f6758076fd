//! Whether a store is sound, and what it contains.

use anyhow::{Error, Result, bail};
use bytesize::ByteSize;
use plant_store_api::types::Plant;
use plant_store_store::{Checked, ContentDigest, Reason, Row, StoreError};
use serde::Serialize;

use crate::command::shared::in_words::in_words;
use crate::command::shared::pages::{Incomplete, for_each_page};
use crate::command::shared::store_args::StoreArgs;

/// How many of the malformed rows a fault names.
const MOST_NAMED: usize = 10;

/// Whether a store is sound, and what was found.
pub enum Verdict {
    Sound(Contents),
    Unsound {
        /// What is wrong, at least one fault.
        faults: Vec<String>,
        /// None if the store could not be read to its end.
        contents: Option<Contents>,
    },
    /// The store cannot be checked.
    Unchecked {
        cause: String,
    },
}

/// What a store contains that was read to its end.
#[derive(Serialize)]
pub struct Contents {
    /// The digest of the ids and the texts of the plants, as `copy` prints it.
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
    /// Has the database check itself, and reads every row.
    pub fn of(store: &StoreArgs) -> Self {
        let mut faults = Vec::new();
        match read(store, &mut faults) {
            Ok(contents) if faults.is_empty() => Self::Sound(contents),
            Ok(contents) => Self::Unsound { faults, contents: Some(contents) },
            // What was found before explains why the rest cannot be read.
            Err(_) if !faults.is_empty() => Self::Unsound { faults, contents: None },
            Err(error) if is_of_damage(&error) => {
                Self::Unsound { faults: vec![in_words(&error)], contents: None }
            }
            Err(error) => Self::Unchecked { cause: in_words(&error) },
        }
    }

    /// The contents of the store with that URL, which must be sound.
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

fn is_of_damage(error: &Error) -> bool {
    let reason = error.downcast_ref().map(StoreError::reason);
    reason == Some(Reason::Damaged) || error.is::<Incomplete>()
}

/// Reads the store. `faults` gets what is wrong, also if the rest cannot be read.
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

/// Whether the row is as the service writes it. serde would accept an array, too.
fn is_plant(row: &Row) -> bool {
    row.json.starts_with('{') && serde_json::from_str::<Plant>(&row.json).is_ok()
}

impl Contents {
    /// The contents in one line.
    pub fn in_words(&self) -> String {
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
