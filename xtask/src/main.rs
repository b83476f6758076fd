//! The chores of this repository: `cargo xtask` lists them.
//!
//! This program must build within seconds. So it knows how the chores run, and does not use the
//! code of the service: a chore that needs that code is in `chores/` or `tests/src/bin/`, programs
//! of their own.

use std::env;
use std::process::ExitCode;

use anyhow::Result;

use xtask::bench::bench;
use xtask::cargo::run_built;
use xtask::checkout::find_root;
use xtask::checks;

const HELP: &str = "\
The chores of this repository

Usage: cargo xtask CHORE

Chores:
  test         Check format, contract and lints, and run every test on SQLite
  ci           Everything that CI checks: `test`, then tests again on PostgreSQL, documentation,
               packages, and `conformance` if the machine has its tools
  generate     Write the OpenAPI document and the client from the code; with `--check`, write
               nothing, and fail with a diff if the checked-in files are not the generated ones
  compat       Compare the document with an older one, and say which version the change needs
  soak         Run the tests of crashes, faults and floods at full length
  conformance  Check document and service with other people's tools
  docs         Write the reference page and, beside it, the document: `target/docs`
  release      Build the archive of a release, with the programs for a target: `target/dist`
  bench        Measure the service beside other servers, and print a table

`cargo xtask CHORE --help` lists the options of a chore that has some. xtask/README.md says which
chore to run when, and how long each takes.";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match find_root().and_then(|_| run(&words)) {
        Ok(status) => status,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[&str]) -> Result<ExitCode> {
    match words {
        [] | ["help" | "-h" | "--help"] => println!("{HELP}"),
        ["test"] => checks::test()?,
        ["ci"] => checks::ci()?,
        ["soak"] => checks::soak()?,
        ["bench", words @ ..] => bench(words)?,
        ["generate", "--check"] => checks::drift()?,
        ["generate" | "compat" | "docs" | "release", ..] => {
            return run_built("plant-store-chores", words);
        }
        ["conformance", arguments @ ..] => return run_built("conformance", arguments),
        other => {
            eprintln!("xtask: there is no chore `{}`\n\n{HELP}", other.join(" "));
            return Ok(ExitCode::from(2));
        }
    }
    Ok(ExitCode::SUCCESS)
}
