//! The file of accepted changes: lines of the output, each followed by ` # ` and a reason.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::{Kind, Report};

impl Report {
    /// Marks the changes that a file accepts, so that they do not make the check fail. A line that
    /// matches no change becomes a note. An error contains the file and the line.
    pub fn accept(&mut self, path: &Path) -> Result<()> {
        let file = path.display();
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {file}"))?;
        let grouped = self.grouped();
        for (at, line) in (1..).zip(text.lines().map(str::trim)) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            // The line itself may contain `#`. It ends with the kind of change in parentheses.
            let mut marks =
                line.rmatch_indices('#').map(|(mark, _)| (&line[..mark], &line[mark + 1..]));
            let found =
                marks.find(|(what, _)| what.ends_with(' ') && what.trim_end().ends_with(')'));
            let (what, reason) = found.unwrap_or((line, ""));
            let what = words(what);
            ensure!(
                !reason.trim().is_empty(),
                "{file}, line {at}: a change is accepted without a reason: write it behind ` # `"
            );
            let mut is_found = false;
            // Nobody knows what changed in schemas that were not compared, so no line accepts it.
            for change in grouped.iter().filter(|change| change.kind != Kind::NotCompared) {
                if words(&self.line(change)) == what {
                    is_found = true;
                    let own = self.changes.iter_mut().filter(|one| one.key() == change.key());
                    own.for_each(|one| one.accepted = Some(reason.trim().to_owned()));
                }
            }
            if !is_found {
                self.notes.push(format!("line {at} of {file} accepts no change: remove it"));
            }
        }
        Ok(())
    }
}

/// Replaces each run of spaces by one space.
fn words(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}
