//! Writes the manual pages and the completions of the programs of a release into a folder, from the
//! definitions of their command lines: this machine may not run the programs for the target.
//!
//! It is an example of the tests' package, because it needs the client, and the chores have to
//! build without it: one of them generates it.

use std::env;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::CommandFactory;
use clap_complete::Shell::{Bash, Fish, Zsh};
use plant_store_server::command::Cli;

fn main() -> Result<()> {
    let folder = PathBuf::from(env::args_os().nth(1).context("expected a folder")?);
    let pages = folder.join("man/man1");
    let completions = folder.join("completions");
    fs::create_dir_all(&pages)?;
    fs::create_dir_all(&completions)?;
    let commands = [Cli::command(), plant_store_client::cli::command()];
    for mut command in commands {
        let name = command.get_name().to_owned();
        for shell in [Bash, Fish, Zsh] {
            clap_complete::generate_to(shell, &mut command, &name, &completions)?;
        }
        clap_mangen::generate_to(command, &pages)?;
    }
    Ok(())
}
