//! The file of accepted changes: which changes that break a client were decided on, why and when.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow, ensure};
use serde::Deserialize;
use toml::value::Datetime;

use crate::{Change, Kind, Report};

/// Accepted changes, in TOML: a table `[[change]]` for each.
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
    /// What happens there, as it is printed: another change at the same place is not accepted.
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
    /// Marks what a file accepts: it has no class any more. An entry without a change becomes a
    /// note. An error names the file.
    pub fn accept(&mut self, path: &Path) -> Result<()> {
        for Entry { place, change: what, reason, date } in Accepted::read(path)?.change {
            // Nobody knows what changed where nothing was compared.
            let is_meant = |one: &&mut Change| {
                one.place == place && one.change == what && one.kind != Kind::NotCompared
            };
            if let Some(change) = self.changes.iter_mut().find(is_meant) {
                change.accepted = Some(format!("{date}: {reason}"));
            } else {
                let note = format!("nothing changes any more as accepted: {place}  {what}");
                self.notes.push(note);
            }
        }
        Ok(())
    }
}
