//! Tries `cargo xtask new` with two sets of names.

use anyhow::{Result, ensure};
use xshell::{Shell, cmd};

use crate::cargo::{ALL, link_dependencies};
use crate::checkout::shell;
use crate::new::{Copy, UNCHANGED, grep, make};
use crate::run::quietly;

/// Makes two copies in temporary folders and checks them.
pub fn run() -> Result<()> {
    let sh = shell()?;
    let built = link_dependencies("copies")?;
    sh.set_var("CARGO_TARGET_DIR", &built);
    let temporary = sh.create_temp_dir()?;
    // `order` is a reserved word of SQL, and takes another article than `plant`.
    for (service, resource) in [("order-desk", "order"), ("seed-bank", "seed")] {
        let folder = temporary.path().join(service);
        let resource = resource.to_owned();
        let service = service.to_owned();
        make(&Copy { folder: folder.clone(), service, resource, plural: None }, &sh)?;
        let _in_the_copy = sh.push_dir(&folder);
        ensure_no_old_name(&sh)?;
    }
    sh.change_dir(temporary.path().join("seed-bank"));
    check(&sh)?;
    sh.remove_path(&built)?;
    Ok(())
}

/// Fails if a path or a file of the copy contains a name of this service, or a part that should have
/// stayed behind.
fn ensure_no_old_name(sh: &Shell) -> Result<()> {
    let elsewhere = format!(":!{UNCHANGED}");
    let paths = quietly(cmd!(sh, "git ls-files -- :(icase)*plant* {elsewhere}"))?;
    ensure!(paths.is_empty(), "the copy has files with an old name:\n{paths}");
    let lines = grep(sh, r"plant|\bpst_|not copied", "*")?;
    ensure!(lines.is_empty(), "the copy contains an old name:\n{lines}");
    Ok(())
}

/// The contract and the lints of a copy, and its first resource by the printed curl command.
fn check(sh: &Shell) -> Result<()> {
    quietly(cmd!(sh, "cargo xtask generate --check"))?;
    let build = cmd!(sh, "cargo build --quiet --all-targets {ALL...}");
    let warnings = build.quiet().read_stderr()?;
    ensure!(warnings.is_empty(), "the copy does not pass the lints:\n{warnings}");
    let tests = ["without_store::", "first_use::"];
    quietly(cmd!(sh, "cargo test --test e2e {ALL...} -- {tests...}"))?;
    Ok(())
}
