//! Finds the programs that checks need, and skips the checks whose programs are missing.
//!
//! In CI a missing program must be an error.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use xshell::{Shell, cmd};

use crate::checkout::{quietly, shell};

/// Returns whether this program is installed, and can print its version.
#[must_use]
pub fn has(program: &str) -> bool {
    Shell::new().is_ok_and(|sh| quietly(cmd!(sh, "{program} --version")).is_ok())
}

/// Returns whether the chore runs in CI, where nothing may be skipped.
fn in_ci() -> bool {
    env::var_os("CI").is_some_and(|ci| !ci.is_empty())
}

/// Returns whether a program was found. If not, prints that its checks are skipped, and what to
/// install. In CI a missing program is an error.
pub fn found_or_skipped(name: &str, is_found: bool, to_install: &str) -> Result<bool> {
    let missing = format!("{name} is missing: {to_install}");
    ensure!(is_found || !in_ci(), "{missing}; in CI no check may be skipped");
    if !is_found {
        println!("skipped, because {missing}");
    }
    Ok(is_found)
}

/// Returns whether the machine has PostgreSQL. If not, prints that its checks are skipped. In CI a
/// missing PostgreSQL is an error.
pub fn postgres_found_or_skipped() -> Result<bool> {
    let to_install = "install Debian's `postgresql`, or put `initdb` on the PATH";
    found_or_skipped("PostgreSQL", postgres_programs().is_some(), to_install)
}

/// Returns whether the machine's PostgreSQL has the extension Citus, which no distribution
/// packages.
pub fn has_citus() -> Result<bool> {
    let sh = shell()?;
    // The folder on the `PATH` may only contain links to some of PostgreSQL's programs.
    let server = postgres_programs().and_then(|folder| folder.join("postgres").canonicalize().ok());
    let config = server.unwrap_or_default().with_file_name("pg_config");
    let shared = quietly(cmd!(sh, "{config} --sharedir")).unwrap_or_default();
    Ok(Path::new(shared.trim_end()).join("extension/citus.control").is_file())
}

/// Returns the folder that contains `initdb` and `postgres`: on the `PATH`, or else from the newest
/// of Debian's packages.
fn postgres_programs() -> Option<PathBuf> {
    // Debian's packages have a folder for each version here, and none of them is on the PATH.
    let entries = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut versions: Vec<PathBuf> = entries.map(|entry| entry.path().join("bin")).collect();
    // As text, because every supported version has two digits.
    versions.sort();
    let path = env::var_os("PATH").unwrap_or_default();
    let has_server = |folder: &PathBuf| {
        ["initdb", "postgres"].iter().all(|program| folder.join(program).is_file())
    };
    env::split_paths(&path).chain(versions.into_iter().rev()).find(has_server)
}
