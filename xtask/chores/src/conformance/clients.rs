//! The clients of other generators: the `run.sh` of each folder of `tests/conformance/clients`
//! makes one from the document and calls the service with it. It creates a plant, meets a conflict
//! and a refused token, and reads both members of the typed error.

use std::fs;

use anyhow::{Context, Result};
use xshell::cmd;

use super::service::Service;
use crate::tools::{folder, shell};
use xtask::run::{has, quietly};

pub fn run() -> Result<()> {
    for client in names()? {
        if let Some(missing) = needs(&client).filter(|program| !has(program)) {
            println!("{client}: skipped, because {missing} is missing");
            continue;
        }
        println!("{client}");
        let service = Service::start()?;
        let sh = shell()?;
        sh.change_dir(folder().join("clients").join(&client));
        quietly(cmd!(sh, "sh -eux run.sh").envs(service.environment()))?;
    }
    Ok(())
}

fn names() -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder().join("clients")).context("cannot list the clients")? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// What a client needs and nothing else in this repository does: OpenAPI Generator is a Java
/// program.
fn needs(client: &str) -> Option<&'static str> {
    match client {
        "openapi-generator-java" => Some("javac"),
        _ if client.starts_with("openapi-generator-") => Some("java"),
        _ => None,
    }
}
