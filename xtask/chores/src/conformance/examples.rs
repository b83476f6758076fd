//! The requests and the recipes of the reference page, unchanged, on the service.
//!
//! Each creates its plants, and once gets the message of a refused token. A recipe may send one create
//! a second, so its second one is refused, and it repeats that. None repeats what can never succeed.

use anyhow::{Context, Result, ensure};
use plant_store_launcher::build_example;
use xshell::{Cmd, Shell, cmd};

use super::service::Service;
use crate::docs::REQUESTS;
use crate::tools::shell;
use xtask::run::quietly;

/// Files of `tests/conformance`, as those of [`REQUESTS`].
const RECIPES: [&str; 3] =
    ["recipes/with_fetch.ts", "recipes/with_requests.py", "recipes/with_httpx.py"];

const PLANT_OF_A_REQUEST: &str = "{\"id\":1,\"name\":\"Monstera deliciosa\",\"tag\":\"indoor\"}\n";

/// Two ids that a number of JavaScript cannot hold, and a plant without a tag.
const PLANTS_OF_A_RECIPE: &str = "\
{\"id\":9007199254740993,\"name\":\"Monstera deliciosa\",\"tag\":\"indoor\"}
{\"id\":9223372036854775807,\"name\":\"Ficus lyrata\"}
";

pub fn run() -> Result<()> {
    let files = || REQUESTS.into_iter().map(|(_, file)| file).chain(RECIPES);
    let typescript = files().filter(|file| file.ends_with("ts"));
    let sh = shell()?;
    quietly(cmd!(
        sh,
        "tsc --strict --target es2022 --module nodenext --types node {typescript...}"
    ))?;
    for file in files() {
        println!("{file}");
        check(file).with_context(|| format!("tests/conformance/{file}"))?;
    }
    Ok(())
}

fn check(file: &str) -> Result<()> {
    let is_recipe = file.starts_with("recipes");
    let limits: &[&str] = if is_recipe { &["--max-rate", "1"] } else { &[] };
    let service = Service::start(limits)?;
    let sh = shell()?;
    let command = || anyhow::Ok(command(&sh, file)?.envs(service.environment()));
    let refused = quietly(command()?.env("PLANTS_TOKEN", "unknown")).err();
    let refused = refused.context("no failure for a refused token")?.to_string();
    ensure!(refused.contains("401"), "it does not say 401 for a refused token:\n{refused}");
    let said = quietly(command()?)?;
    ensure!(said.contains("Monstera deliciosa"), "it does not say what it made:\n{said}");
    let expected = if is_recipe { PLANTS_OF_A_RECIPE } else { PLANT_OF_A_REQUEST };
    let stored = service.export()?;
    ensure!(stored == expected, "the store holds\n{stored}and not\n{expected}");
    // The log has its records later than the client its answers, and in the same order.
    service.wait_for(expected.lines().count(), "status", 200)?;
    ensure!(service.logged("error", 401)? == 1, "a refused token was sent again");
    ensure!(!is_recipe || service.logged("error", 429)? > 0, "no create was refused");
    Ok(())
}

/// How a file of this language is run, after `tsc`.
fn command<'a>(sh: &'a Shell, file: &str) -> Result<Cmd<'a>> {
    Ok(match file.rsplit_once('.') {
        Some((_, "sh")) => cmd!(sh, "sh {file}"),
        Some((_, "py")) => cmd!(sh, "python {file}"),
        Some((script, "ts")) => cmd!(sh, "node {script}.js"),
        _ => sh.cmd(build_example("request")?),
    })
}
