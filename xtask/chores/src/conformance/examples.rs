//! The requests and the recipes of the reference page, unchanged, on the service.
//!
//! Each creates its plants, and once gets the message of a refused token. A recipe may send one create
//! a second, so its second one is refused, and it repeats that. None repeats what can never succeed.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use xshell::cmd;

use super::service::Service;
use crate::docs::REQUESTS;
use crate::tools::{folder, path, shell};
use xtask::programs::build;
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
    let mut command = command(file)?;
    command.current_dir(folder()).env("PATH", path()).env("PLANTS_URL", &service.url);

    command.env("PLANTS_TOKEN", "unknown");
    let (success, said) = run_to_its_end(&mut command)?;
    ensure!(!success && said.contains("401"), "no failure for a refused token:\n{said}");

    command.env("PLANTS_TOKEN", &service.token);
    let (success, said) = run_to_its_end(&mut command)?;
    ensure!(success && said.contains("Monstera deliciosa"), "it failed:\n{said}");
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
fn command(file: &str) -> Result<Command> {
    let (program, file) = match file.rsplit_once('.') {
        Some((_, "sh")) => ("sh", file.to_owned()),
        Some((_, "py")) => ("python", file.to_owned()),
        Some((script, "ts")) => ("node", format!("{script}.js")),
        _ => return Ok(Command::new(build("--example", "request")?)),
    };
    let mut command = Command::new(program);
    command.arg(file);
    Ok(command)
}

/// Whether it succeeded, and what it said.
fn run_to_its_end(command: &mut Command) -> Result<(bool, String)> {
    let output = command.stdin(Stdio::null()).output().context("cannot start it")?;
    let said = [output.stdout, output.stderr].concat();
    Ok((output.status.success(), String::from_utf8_lossy(&said).into_owned()))
}
