//! Runs the compatibility check on pairs of real documents, and counts the verdicts. oasdiff can
//! judge the same pairs, for comparison.
//!
//! The documents belong to other projects, so this repository must not contain them.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use openapi_compat::{Class, Document, compare};
use serde_json::Value;
use xshell::{Shell, cmd};

/// The verdicts of a tool about all pairs.
#[derive(Default)]
struct Counts {
    refused: usize,
    broken: usize,
    harmless: usize,
    /// How many changes were reported as breaking.
    lines: usize,
}

/// Judges each pair in the folder, and prints a line of counts for each tool.
pub fn run(folder: &Path, oasdiff: Option<&Path>) -> Result<()> {
    let mut ours = Counts::default();
    let mut theirs = Counts::default();
    let listed =
        fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut pairs: Vec<_> = listed.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    pairs.sort();
    for pair in pairs.iter().filter(|pair| pair.join("new.json").exists()) {
        let name = pair.file_name().unwrap_or_default().display();
        match judge(pair) {
            Ok(lines) => ours.add(lines),
            Err(error) => {
                println!("{name}: {error:#}");
                ours.refused += 1;
            }
        }
        if let Some(program) = oasdiff {
            match judge_with(program, pair) {
                Ok(lines) => theirs.add(lines),
                Err(_) => theirs.refused += 1,
            }
        }
    }
    ours.print("compat");
    if oasdiff.is_some() {
        theirs.print("oasdiff");
    }
    Ok(())
}

impl Counts {
    fn add(&mut self, lines: usize) {
        self.lines += lines;
        let counted = if lines > 0 { &mut self.broken } else { &mut self.harmless };
        *counted += 1;
    }

    fn print(&self, tool: &str) {
        let Self { refused, broken, harmless, lines } = self;
        println!(
            "{tool}: {broken} break, {harmless} do not, {refused} refused; {lines} breaking changes"
        );
    }
}

/// Returns how many changes of a pair break a client.
fn judge(pair: &Path) -> Result<usize> {
    let [old, new] = ["old.json", "new.json"].map(|name| {
        let text = fs::read_to_string(pair.join(name))?;
        Document::parse(name, &text)
    });
    let changes = compare(old?, new?).grouped();
    Ok(changes.iter().filter(|change| change.class >= Class::Source).count())
}

/// Returns how many errors and warnings oasdiff reports for a pair.
fn judge_with(program: &Path, pair: &Path) -> Result<usize> {
    let sh = Shell::new()?;
    let [old, new] = ["old.json", "new.json"].map(|name| pair.join(name));
    let oasdiff = cmd!(sh, "{program} breaking --format json {old} {new}").quiet().ignore_stderr();
    let found: Vec<Value> = serde_json::from_str(&oasdiff.read()?)?;
    Ok(found.len())
}
