//! The licences of the crates in the programs: most demand that their text comes with a binary.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;
use xshell::{Shell, cmd};

use crate::release::programs::{PROGRAMS, Program};
use crate::run::quietly;

/// What the names of files about a licence begin with.
const NAMES: [&str; 4] = ["COPYING", "LICENCE", "LICENSE", "NOTICE"];

/// A text about each crate that the programs have in them on this target: its licence, the address
/// of its source, and its files about the licence.
pub fn text(sh: &Shell, target: &str) -> Result<String> {
    let printed = quietly(cmd!(
        sh,
        "cargo metadata --format-version 1 --locked --all-features --filter-platform {target}"
    ))?;
    let metadata: Value = serde_json::from_str(&printed).context("cargo prints no JSON")?;
    let mut linked = BTreeSet::new();
    for program in &PROGRAMS {
        linked.append(&mut linked_into(program, sh, target)?);
    }
    let mut text = String::new();
    for package in metadata["packages"].as_array().context("no packages")? {
        let of = |member: &str| package[member].as_str().unwrap_or_default();
        let name = format!("{} v{}", of("name"), of("version"));
        if linked.contains(&name) {
            writeln!(text, "{name}\n{}\n{}\n", of("license"), of("repository"))?;
            let folder = Path::new(of("manifest_path")).parent().context("no folder")?;
            for file in sh.read_dir(folder)?.into_iter().filter(|file| is_about_licence(file)) {
                writeln!(text, "{}", String::from_utf8_lossy(&sh.read_binary_file(file)?))?;
            }
            writeln!(text, "{}\n", "-".repeat(80))?;
        }
    }
    Ok(text)
}

/// The crates that are in a program, built with its own features, without those that are only used
/// to build it.
fn linked_into(program: &Program, sh: &Shell, target: &str) -> Result<BTreeSet<String>> {
    let Program { package, features, .. } = *program;
    let tree = quietly(cmd!(
        sh,
        "cargo tree --locked --target {target} --package {package} {features...}
            --edges normal,no-proc-macro --prefix none"
    ))?;
    // A name, a version, and perhaps more.
    let crates = tree.lines().map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" "));
    Ok(crates.collect())
}

fn is_about_licence(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
    path.is_file() && NAMES.iter().any(|begin| name.starts_with(begin))
}
