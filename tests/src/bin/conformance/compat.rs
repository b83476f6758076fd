//! The compatibility check of a consumer, in a folder that has nothing to do with this repository:
//! the action of `.github/actions/compat`, run as GitHub runs it, and the installed command.

use anyhow::{Result, ensure};
use plant_store_chores::tools::{folder, shell};
use plant_store_tests::build;
use xshell::cmd;
use xtask::checkout::{DOCUMENT, root};
use xtask::run::quietly;

pub fn run() -> Result<()> {
    let sh = shell()?;
    let consumer = sh.create_temp_dir()?;
    sh.change_dir(consumer.path());
    let document = root().join(DOCUMENT);
    let script = folder().join("action.py");
    let action = root().join(".github/actions/compat");
    print!("{}", quietly(cmd!(sh, "python {script} {action} {document}"))?);

    let tools = consumer.path().join("tools");
    // Not in the consumer's folder, which names another toolchain.
    let checkout = xtask::checkout::shell()?;
    quietly(cmd!(
        checkout,
        "cargo install --quiet --locked --debug --path xtask/compat --root {tools}
            --target-dir target"
    ))?;
    let service = build("plant-store", false)?;
    let served = quietly(cmd!(sh, "{service} openapi"))?;
    // It has the document in it that the service prints.
    let said = quietly(cmd!(sh, "tools/bin/plant-store-compat -").stdin(served))?;
    ensure!(said.ends_with("nothing changed\n"), "the installed command says:\n{said}");
    println!("the installed command: as documented");
    Ok(())
}
