//! Reads the body of a generated command from the file of `--json-body`. `cargo xtask generate`
//! replaces the generator's own reading, which is not strict, with calls of these functions.

use std::io::Read;
use std::path::Path;

use anyhow::{Result, anyhow, ensure};
use clap::ArgMatches;
use serde::de::DeserializeOwned;
use tokio::task::spawn_blocking;

use super::{input, reader};

/// The size limit of the file, in bytes. It is larger than the service's default limit on a body.
const LARGEST: u64 = 1024 * 1024;

/// The flag that accepts members which the contract does not have.
pub const IGNORE_UNKNOWN: &str = "ignore-unknown";

/// A body that is not parsed yet.
pub struct Body {
    text: Vec<u8>,
    ignores_unknown: bool,
}

/// Reads a file; `-` is stdin. A pipe may block, so the file is read on a thread of its own.
pub async fn read(file: &Path, arguments: &ArgMatches) -> Result<Body> {
    let file = file.to_owned();
    let text = spawn_blocking(move || {
        let mut text = Vec::new();
        input::utf_8(input::open(&file)?)?.take(LARGEST + 1).read_to_end(&mut text)?;
        ensure!(text.len() as u64 <= LARGEST, "it is larger than 1 MiB");
        Ok(text)
    });
    Ok(Body { text: text.await??, ignores_unknown: arguments.get_flag(IGNORE_UNKNOWN) })
}

/// Parses a body as a type of the contract.
pub fn parse<T: DeserializeOwned>(body: &Body) -> Result<T> {
    reader::json(&body.text, body.ignores_unknown).map_err(|invalid| anyhow!(invalid.message))
}
