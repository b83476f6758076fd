//! What a check needs of the machine: found, installed, or reported as missing.

use std::env;

use anyhow::{Result, bail};
use xshell::cmd;

use crate::run::{has, quietly, shell};

/// Looks for something, and installs its package if it is missing and may be installed. If it is
/// still missing, this says so and returns `None`. In CI, which must test everything, that is an
/// error.
pub fn need<T>(package: &str, find: impl Fn() -> Option<T>, to_install: &str) -> Result<Option<T>> {
    let found = find();
    if found.is_some() {
        return Ok(found);
    }
    if may_install()
        && let Err(error) = install(package)
    {
        eprintln!("{package}: it cannot be installed: {error:#}");
    }
    match find() {
        Some(found) => Ok(Some(found)),
        None if env::var_os("CI").is_some() => bail!("there is no {package}: {to_install}"),
        None => {
            println!("{package}: its tests are skipped, because there is none: {to_install}");
            Ok(None)
        }
    }
}

/// Only root may install, and only Debian and systems made from it have the packages.
fn may_install() -> bool {
    has("apt-get") && shell().is_ok_and(|sh| quietly(cmd!(sh, "id -u")).is_ok_and(|id| id == "0\n"))
}

fn install(package: &str) -> Result<()> {
    let sh = shell()?;
    sh.set_var("DEBIAN_FRONTEND", "noninteractive");
    quietly(cmd!(sh, "apt-get update"))?;
    quietly(cmd!(sh, "apt-get install -y --no-install-recommends {package}"))?;
    Ok(())
}
