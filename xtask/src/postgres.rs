//! Finds the PostgreSQL of the tests.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use xshell::cmd;

use crate::checkout::shell;
use crate::needs::{self, skipped};
use crate::run::quietly;

/// What to do if the machine has no PostgreSQL.
pub const TO_INSTALL: &str = "install Debian's `postgresql`, or put `initdb` on the PATH";

/// Returns whether the machine has PostgreSQL. If not, prints that its checks are skipped. In CI a
/// missing PostgreSQL is an error.
pub fn found_or_skipped() -> Result<bool> {
    needs::found_or_skipped("PostgreSQL", programs().is_some(), TO_INSTALL)
}

/// Returns whether this PostgreSQL has the extension Citus. If not, prints that the tests on Citus
/// are skipped, even in CI, because no distribution packages Citus.
pub fn citus_found_or_skipped() -> Result<bool> {
    let sh = shell()?;
    let config = programs().unwrap_or_default().join("pg_config");
    let shared = quietly(cmd!(sh, "{config} --sharedir")).unwrap_or_default();
    let has_citus = Path::new(shared.trim_end()).join("extension/citus.control").is_file();
    if !has_citus {
        skipped("tests on Citus", "PostgreSQL lacks the extension Citus: see docs.citusdata.com");
    }
    Ok(has_citus)
}

/// Returns the folder that contains `initdb` and `postgres`: on the `PATH`, or else from the newest
/// of Debian's packages.
#[must_use]
pub fn programs() -> Option<PathBuf> {
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
