//! Writes the manual pages and the shell completions of both programs into a folder, for the Debian
//! package. `cargo xtask release` runs it.

use std::path::PathBuf;
use std::{env, fs};

use anyhow::{Context, Result};
use clap_complete::Shell;
use groundwork::command_line;
use plant_store_client::cli::command;
use plant_store_server::PLANT_STORE;

fn main() -> Result<()> {
    let folder = PathBuf::from(env::args_os().nth(1).context("usage: manuals FOLDER")?);
    let subfolder = |name: &str| {
        let path = folder.join(name);
        fs::create_dir_all(&path).map(|()| path)
    };
    for program in [command_line(&PLANT_STORE), command()] {
        let name = program.get_name().to_owned();
        for shell in [Shell::Bash, Shell::Fish, Shell::Zsh] {
            let scripts = subfolder(&shell.to_string())?;
            clap_complete::generate_to(shell, &mut program.clone(), &name, scripts)?;
        }
        clap_mangen::generate_to(program, subfolder("man")?)?;
    }
    Ok(())
}
