//! `plant-store completions`: prints the script with which a shell completes the command line.

use std::io::Write;

use anyhow::Result;
use clap_complete::Shell;

use crate::command::stdout::stdout;

/// Print completions for a shell
#[derive(clap::Args, Debug)]
pub struct Args {
    shell: Shell,
}

/// Prints the completions of this command line.
pub fn run(args: &Args, command: &mut clap::Command) -> Result<()> {
    // Into memory first: clap_complete panics if it cannot write.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, command, "plant-store", &mut script);
    Ok(stdout().write_all(&script)?)
}
