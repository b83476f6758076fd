//! The file of accepted changes: breaking changes that were made on purpose, with reason and date.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow, ensure};
use serde::Deserialize;
use toml::value::Datetime;

use crate::{Change, Kind, Report};

/// The file, in TOML: a table `[[change]]` for each accepted change.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Accepted {
    #[serde(default)]
    change: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    place: String,
    /// The change as it is printed, so that no other change at the same place is accepted.
    change: String,
    reason: String,
    date: Datetime,
}

impl Accepted {
    fn read(path: &Path) -> Result<Self> {
        let name = path.display();
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {name}"))?;
        let accepted: Self = toml::from_str(&text).map_err(|error| {
            let before = &text[..error.span().unwrap_or_default().start];
            let line = before.matches('\n').count() + 1;
            anyhow!("{name}, line {line}: {}", error.message().replace('\n', ", "))
        })?;
        for Entry { place, reason, .. } in &accepted.change {
            ensure!(!reason.trim().is_empty(), "{name}: {place} is accepted without a reason");
        }
        Ok(accepted)
    }
}

impl Report {
    /// Marks the changes that a file accepts: they no longer count. An entry that matches no change
    /// becomes a note. An error names the file.
    pub fn accept(&mut self, path: &Path) -> Result<()> {
        for Entry { place, change: what, reason, date } in Accepted::read(path)?.change {
            // What was not compared cannot be accepted: nobody knows what changed.
            let matches = |one: &&mut Change| {
                one.place == place && one.change == what && one.kind != Kind::NotCompared
            };
            if let Some(change) = self.changes.iter_mut().find(matches) {
                change.accepted = Some(format!("{date}: {reason}"));
            } else {
                let note = format!("an accepted change was not found: {place}  {what}");
                self.notes.push(note);
            }
        }
        Ok(())
    }
}
