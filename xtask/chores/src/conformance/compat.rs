//! The compatibility check of a consumer, in a folder that has nothing to do with this repository: the
//! action of `.github/actions/compat`, run as GitHub runs it, and the installed command.

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use xshell::{Shell, cmd};

use crate::compat::DOCUMENT;
use crate::tools::{folder, shell};
use xtask::programs::build;
use xtask::run::{quietly, root};

pub fn run() -> Result<()> {
    let sh = shell()?;
    let consumer = sh.create_temp_dir()?;
    sh.change_dir(consumer.path());
    lay_out(&sh)?;
    let (script, action) = (folder().join("action.py"), root().join(".github/actions/compat"));
    print!("{}", quietly(cmd!(sh, "python {script} {action}"))?);
    command(&sh)
}

/// Writes what the cases of `action.py` name.
fn lay_out(sh: &Shell) -> Result<()> {
    sh.copy_file(root().join(DOCUMENT), "contract.json")?;
    sh.write_file("no-document.json", "{}")?;
    sh.write_file("rust-toolchain.toml", "[toolchain]\nchannel = \"1.0.0\"\n")?;
    let mut document: Value = serde_json::from_str(&sh.read_file("contract.json")?)?;
    document["paths"]["/plants"]["post"]["operationId"] = json!("renamed");
    sh.write_file("renamed.json", document.to_string())?;
    let mut document: Value = serde_json::from_str(&sh.read_file("contract.json")?)?;
    document["components"]["schemas"]["Plant"]["properties"]["made_up"] = json!({"type": "string"});
    sh.write_file("with-made-up.json", document.to_string())?;
    let place = "#/components/schemas/Plant/properties/made_up";
    let accepted = format!(
        "[[change]]\nplace = '{place}'\nchange = 'removed'\nreason = 'a'\ndate = 2026-11-23\n"
    );
    sh.write_file("accepted.toml", accepted)?;
    Ok(())
}

/// The document that the service prints is the one that the installed command has in it.
fn command(sh: &Shell) -> Result<()> {
    let (source, target) = (root().join("xtask/compat"), root().join("target"));
    quietly(cmd!(
        sh,
        "cargo install --quiet --locked --debug --path {source} --root tools --target-dir {target}"
    ))?;
    let service = build("--bin", "plant-store")?;
    let served = quietly(cmd!(sh, "{service} openapi"))?;
    let said = quietly(cmd!(sh, "tools/bin/plant-store-compat -").stdin(served))?;
    ensure!(said.ends_with("nothing changed\n"), "the installed command says:\n{said}");
    println!("the installed command: as documented");
    Ok(())
}
