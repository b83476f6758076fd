//! The PostgreSQL of the tests: where its programs are.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use xshell::cmd;

use crate::machine::need;
use crate::run::{quietly, shell};

/// What to do on a machine without PostgreSQL.
pub const TO_INSTALL: &str = "install Debian's `postgresql`, or put `initdb` on the PATH";

/// Whether the machine has a PostgreSQL. If not, it is installed if that is allowed: see [`need`].
pub fn is_there() -> Result<bool> {
    Ok(need("postgresql", programs, TO_INSTALL)?.is_some())
}

/// If it is in the environment, the tests run on Citus.
pub const CITUS: &str = "PLANT_STORE_TESTS_CITUS";

/// Whether that PostgreSQL has the extension Citus. No distribution has a package of it, so it is not
/// installed here; if it is missing, this says so.
pub fn has_citus() -> Result<bool> {
    let sh = shell()?;
    // Not always beside the server's programs.
    let config = programs().map(|programs| programs.join("pg_config"));
    let config = config.filter(|file| file.is_file()).unwrap_or("pg_config".into());
    let shared = quietly(cmd!(sh, "{config} --sharedir")).unwrap_or_default();
    let has_it = Path::new(shared.trim_end()).join("extension/citus.control").is_file();
    if !has_it {
        println!("Citus: its tests are skipped, because PostgreSQL lacks it: docs.citusdata.com");
    }
    Ok(has_it)
}

/// Debian has a folder of each version here, and puts none of them on the PATH.
const VERSIONS: &str = "/usr/lib/postgresql";

/// The folder of `initdb` and of the server: on the PATH, else that of the newest version of
/// Debian's packages.
#[must_use]
pub fn programs() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).chain(versions()).find(|folder| has_server(folder))
}

/// The newest first.
fn versions() -> Vec<PathBuf> {
    let entries = fs::read_dir(VERSIONS).into_iter().flatten().flatten();
    let mut versions: Vec<(u32, PathBuf)> = entries
        .filter_map(|entry| {
            let version = entry.file_name().to_str()?.parse().ok()?;
            Some((version, entry.path().join("bin")))
        })
        .collect();
    versions.sort_by_key(|(version, _)| std::cmp::Reverse(*version));
    versions.into_iter().map(|(_, folder)| folder).collect()
}

fn has_server(folder: &Path) -> bool {
    ["initdb", "postgres"].iter().all(|program| folder.join(program).is_file())
}
