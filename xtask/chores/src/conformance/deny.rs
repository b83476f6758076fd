//! cargo-deny judges the dependencies: licences, versions, sources, advisories. It is configured
//! by `.cargo/deny.toml`.

use anyhow::Result;
use xshell::{Shell, cmd};

use crate::tools::path;
use xtask::run::{quietly, shell};

/// These findings would otherwise be warnings: an entry of the configuration that nothing needs.
const STALE: [&str; 3] =
    ["unmatched-skip", "unnecessary-skip", "license-exception-not-encountered"];

pub fn run() -> Result<()> {
    let sh = shell()?;
    sh.set_var("PATH", path());
    check(&sh, &["bans", "licenses", "sources"])?;
    // The database is a git repository on a code host, which not every machine reaches.
    match quietly(cmd!(sh, "cargo deny fetch db")) {
        Ok(_) => check(&sh, &["advisories"]),
        Err(error) => {
            println!("advisories: skipped, because their database cannot be fetched:\n{error:#}");
            Ok(())
        }
    }
}

fn check(sh: &Shell, what: &[&str]) -> Result<()> {
    let stale = STALE.iter().flat_map(|lint| ["--deny", lint]);
    let check = cmd!(sh, "cargo deny --locked check").args(stale).args(what);
    println!("{check}");
    quietly(check)?;
    Ok(())
}
