//! The PostgreSQL of the tests: found, installed, or named as missing.

use std::env;

use anyhow::{Result, bail};
use plant_store_launcher::postgres::{Cluster, TO_INSTALL, programs};
use xshell::cmd;

use crate::run::{has, quietly, shell};

/// A server that the tests share. None where the machine has no PostgreSQL.
pub fn start() -> Result<Option<Cluster>> {
    Ok(is_there()?.then(Cluster::start))
}

/// Whether the machine has a PostgreSQL, which is installed where it may be. Where it has none, this
/// says so, and is an error in CI, which must test all.
pub fn is_there() -> Result<bool> {
    if programs().is_none()
        && may_install()
        && let Err(error) = install()
    {
        eprintln!("postgres: it cannot be installed: {error:#}");
    }
    match programs() {
        Some(_) => Ok(true),
        None if env::var_os("CI").is_some() => bail!("there is no PostgreSQL: {TO_INSTALL}"),
        None => {
            println!("postgres: its tests are skipped, because there is none: {TO_INSTALL}");
            Ok(false)
        }
    }
}

/// Only root may, and only Debian and its descendants have the package.
fn may_install() -> bool {
    has("apt-get") && shell().is_ok_and(|sh| quietly(cmd!(sh, "id -u")).is_ok_and(|id| id == "0\n"))
}

fn install() -> Result<()> {
    let sh = shell()?;
    sh.set_var("DEBIAN_FRONTEND", "noninteractive");
    quietly(cmd!(sh, "apt-get update"))?;
    quietly(cmd!(sh, "apt-get install -y --no-install-recommends postgresql"))?;
    Ok(())
}
