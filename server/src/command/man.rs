//! `plant-store man`: writes the manual pages, one for each command. A release holds them.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

/// Write the manual pages into a folder
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The folder. It is made where it is missing
    folder: PathBuf,
}

/// Writes the pages of this command line.
pub fn run(Args { folder }: &Args, command: clap::Command) -> Result<()> {
    fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(command, folder))
        .with_context(|| format!("cannot write into {}", folder.display()))
}
