//! The chores that need the code of the contract: `cargo xtask` builds this program and passes its
//! arguments on.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use plant_store_chores::{compat, docs, generate, release};
use xtask::checkout::find_root;

/// The chores that need the code of the contract
#[derive(Parser)]
#[command(name = "xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Write the OpenAPI document and the client from the code
    Generate,
    /// Compare the document with an older one: fail if a change needs a larger version
    Compat(compat::Base),
    /// Write the reference page and, beside it, the document: `target/docs`
    Docs,
    /// Build the archive of a release, with the programs for a target: `target/dist`
    Release(release::Target),
}

fn main() -> ExitCode {
    let chore = Cli::parse().chore;
    let done = find_root().and_then(|_| match chore {
        Chore::Generate => generate::write(),
        Chore::Compat(base) => compat::run(&base),
        Chore::Docs => docs::run(),
        Chore::Release(target) => release::run(&target),
    });
    let Err(error) = done else { return ExitCode::SUCCESS };
    eprintln!("xtask: {error:#}");
    ExitCode::FAILURE
}
