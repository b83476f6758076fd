//! The compatibility check of a consumer: runs the action `.github/actions/compat` as GitHub does,
//! in a folder that is not part of this repository.

use anyhow::Result;
use xshell::cmd;

use crate::checkout::{quietly, root};
use crate::tools::{folder, shell};

pub fn run() -> Result<()> {
    let sh = shell()?;
    let consumer = sh.create_temp_dir()?;
    sh.change_dir(consumer.path());
    let script = folder().join("action.py");
    let action = root().join(".github/actions/compat");
    // The action installs the program. With this target folder, it is only built once.
    let built = root().join("target/conformance/action");
    let run = cmd!(sh, "python {script} {action}").env("CARGO_TARGET_DIR", built);
    print!("{}", quietly(run)?);
    Ok(())
}
