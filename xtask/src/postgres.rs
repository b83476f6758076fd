//! The PostgreSQL of the tests: where its programs are.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use xshell::cmd;

use crate::checkout::shell;
use crate::needs::{self, skipped};
use crate::run::quietly;

/// What to do on a machine without PostgreSQL.
pub const TO_INSTALL: &str = "install Debian's `postgresql`, or put `initdb` on the PATH";

/// Whether the machine has a PostgreSQL. If not, this prints that its checks are skipped; in CI
/// that is an error.
pub fn found_or_skipped() -> Result<bool> {
    needs::found_or_skipped("postgresql", programs().is_some(), TO_INSTALL)
}

/// Whether that PostgreSQL has the extension Citus. If not, this prints that its tests are skipped,
/// in CI, too: no distribution has a package of it.
pub fn citus_found_or_skipped() -> Result<bool> {
    let sh = shell()?;
    let config = programs().unwrap_or_default().join("pg_config");
    let shared = quietly(cmd!(sh, "{config} --sharedir")).unwrap_or_default();
    let has_it = Path::new(shared.trim_end()).join("extension/citus.control").is_file();
    if !has_it {
        skipped("tests on Citus", "PostgreSQL lacks that extension: docs.citusdata.com");
    }
    Ok(has_it)
}

/// The folder of `initdb` and of the server: on the PATH, else that of the newest version of
/// Debian's packages.
#[must_use]
pub fn programs() -> Option<PathBuf> {
    // Debian has a folder of each version here, and puts none of them on the PATH.
    let entries = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut versions: Vec<PathBuf> = entries.map(|entry| entry.path().join("bin")).collect();
    // Each version that is maintained has two digits.
    versions.sort();
    let path = env::var_os("PATH").unwrap_or_default();
    let has_server = |folder: &PathBuf| {
        ["initdb", "postgres"].iter().all(|program| folder.join(program).is_file())
    };
    env::split_paths(&path).chain(versions.into_iter().rev()).find(has_server)
}
