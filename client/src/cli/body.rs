//! The body of a generated command, from the file of `--json-body`. `cargo xtask generate` puts the
//! calls of these functions in place of the generator's own reading, which is not strict.

use std::io::Read;
use std::path::Path;

use anyhow::{Result, anyhow, ensure};
use clap::ArgMatches;
use serde::de::DeserializeOwned;
use tokio::task::spawn_blocking;

use super::{input, reader};

/// The largest file that is read, in bytes: more than the largest body that the service takes by
/// default.
const LARGEST: u64 = 1024 * 1024;

/// The flag that takes members which the contract does not have.
pub const IGNORE_UNKNOWN: &str = "ignore-unknown";

/// A body that is not parsed yet.
pub struct Body {
    text: Vec<u8>,
    ignores_unknown: bool,
}

/// Reads a file; `-` is stdin. It may be a pipe, so a thread of its own reads it.
pub async fn read(file: &Path, arguments: &ArgMatches) -> Result<Body> {
    let file = file.to_owned();
    let text = spawn_blocking(move || {
        let mut text = Vec::new();
        input::text(input::open(&file)?)?.take(LARGEST + 1).read_to_end(&mut text)?;
        ensure!(text.len() as u64 <= LARGEST, "it is larger than 1 MiB");
        Ok(text)
    });
    Ok(Body { text: text.await??, ignores_unknown: arguments.get_flag(IGNORE_UNKNOWN) })
}

/// Reads a value of the contract.
pub fn parse<T: DeserializeOwned>(body: &Body) -> Result<T> {
    reader::json(&body.text, body.ignores_unknown).map_err(|invalid| anyhow!(invalid.message))
}
