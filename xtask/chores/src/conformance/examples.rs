//! The requests and the recipes of the reference page, unchanged, on the service.
//!
//! Each creates its plants, and once gets the message of a refused token. A recipe meets a store
//! that takes no writes, and repeats its request until the store takes them. None repeats what can
//! never succeed.

use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};
use xshell::cmd;

use super::service::Service;
use crate::docs::{Example, RECIPES, REQUESTS};
use crate::tools::{folder, path, shell};
use xtask::programs::build;
use xtask::run::quietly;

const PLANT_OF_A_REQUEST: &str = "{\"id\":1,\"name\":\"Monstera deliciosa\",\"tag\":\"indoor\"}\n";

/// Two ids that a number of JavaScript cannot hold, and a plant without a tag.
const PLANTS_OF_A_RECIPE: &str = "\
{\"id\":9007199254740993,\"name\":\"Monstera deliciosa\",\"tag\":\"indoor\"}
{\"id\":9223372036854775807,\"name\":\"Ficus lyrata\"}
";

pub fn run() -> Result<()> {
    let every = || REQUESTS.iter().chain(&RECIPES);
    let typescript = every().filter(|example| example.language == "typescript");
    let typescript = typescript.map(|example| example.file);
    let sh = shell()?;
    quietly(cmd!(
        sh,
        "tsc --strict --target es2022 --module nodenext --types node {typescript...}"
    ))?;
    for example in every() {
        println!("{}", example.file);
        check(example).with_context(|| format!("tests/conformance/{}", example.file))?;
    }
    Ok(())
}

fn check(example: &Example) -> Result<()> {
    let service = Service::start()?;
    let mut command = command(example.file)?;
    command.current_dir(folder()).env("PATH", path()).env("PLANTS_URL", service.url());

    command.env("PLANTS_TOKEN", "unknown");
    let (success, said) = end(start(&mut command)?)?;
    ensure!(!success && said.contains("401"), "no failure for a refused token:\n{said}");

    command.env("PLANTS_TOKEN", service.token());
    let is_recipe = example.file.starts_with("recipes");
    let process = match is_recipe {
        true => start_on_a_locked_store(&mut command, &service)?,
        false => start(&mut command)?,
    };
    let (success, said) = end(process)?;
    ensure!(success && said.contains("Monstera deliciosa"), "it failed:\n{said}");
    let expected = if is_recipe { PLANTS_OF_A_RECIPE } else { PLANT_OF_A_REQUEST };
    let stored = service.export()?;
    ensure!(stored == expected, "the store holds\n{stored}and not\n{expected}");
    // The log has its records later than the client its answers, and in the same order.
    service.wait_for(expected.lines().count(), "status", 200, || false)?;
    ensure!(service.logged("error", 401)? == 1, "a refused token was sent again");
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

fn start(command: &mut Command) -> Result<Child> {
    let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().context("cannot start it")
}

/// Keeps the store locked until the service has refused a create of the process with 503.
fn start_on_a_locked_store(command: &mut Command, service: &Service) -> Result<Child> {
    let _lock = service.lock()?;
    let mut process = start(command)?;
    let has_ended = || process.try_wait().is_ok_and(|status| status.is_some());
    service.wait_for(1, "error", 503, has_ended)?;
    Ok(process)
}

/// Whether it succeeded, and what it said.
fn end(process: Child) -> Result<(bool, String)> {
    let output = process.wait_with_output().context("it does not end")?;
    let said = [output.stdout, output.stderr].concat();
    Ok((output.status.success(), String::from_utf8_lossy(&said).into_owned()))
}
