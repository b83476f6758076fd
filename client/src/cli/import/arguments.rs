//! The command line of `plants import`.

use std::num::NonZeroU32;
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::builder::TypedValueParser;

/// Create every plant of a file
///
/// The file contains one JSON object per line, as `plant-store export` writes them, or CSV with the
/// names of the members in its header. An empty field of an optional member counts as absent.
///
/// A record that is not created does not stop the import. For each such record, the import writes
/// a line of JSON to standard output, with its `line`, the `error` of the service, a `message`, and
/// the record as `plant`, or as `text` if it cannot be parsed as a plant. Progress and the summary
/// go to standard error. The import is idempotent: run the same command again after any failure.
#[derive(clap::Args, Clone)]
pub struct Arguments {
    /// File to import; - is standard input
    pub file: PathBuf,
    /// Format of the file. By default csv if the name ends in .csv or --delimiter is given, and
    /// jsonl otherwise
    #[arg(long)]
    format: Option<Format>,
    /// Delimiter of the CSV fields, such as ';' or '\t'. By default a comma
    #[arg(long, value_name = "CHARACTER", value_parser = delimiter)]
    delimiter: Option<u8>,
    /// Ignore members and columns that the contract does not have, instead of refusing them
    #[arg(long)]
    pub ignore_unknown: bool,
    /// How many creates to send per second. By default as many as the service accepts
    #[arg(long, value_name = "CREATES")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..).try_map(NonZeroU32::try_from))]
    pub rate: Option<NonZeroU32>,
    /// How many creates may be in flight at once
    #[arg(long, value_name = "CREATES", default_value_t = 64)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    pub in_flight: u16,
    /// How often to retry a create before giving it up, with exponential backoff from 0.1 to 10
    /// seconds and jitter of up to as much again
    #[arg(long, value_name = "RETRIES", default_value_t = 10)]
    pub retries: u16,
}

/// The format of the file.
#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
pub enum Format {
    /// One JSON object per line
    Jsonl,
    /// Delimiter-separated fields, with the names of the members in the first line
    Csv,
}

impl Arguments {
    /// Returns the format in the arguments, or else the format that the file name implies.
    pub fn format(&self) -> Result<Format> {
        let is_csv = self.file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv"));
        match (self.format, self.delimiter) {
            (Some(Format::Jsonl), Some(_)) => bail!("--delimiter does not apply to JSON lines"),
            (Some(format), _) => Ok(format),
            (None, None) if !is_csv => Ok(Format::Jsonl),
            (None, _) => Ok(Format::Csv),
        }
    }

    /// Returns the delimiter of the CSV fields.
    pub fn delimiter(&self) -> u8 {
        self.delimiter.unwrap_or(b',')
    }
}

/// Parses an ASCII character. A shell passes `'\t'` as two characters.
fn delimiter(text: &str) -> Result<u8, &'static str> {
    match text.as_bytes() {
        br"\t" => Ok(b'\t'),
        &[character] if character.is_ascii() && !b"\"\r\n".contains(&character) => Ok(character),
        _ => Err(r"expected one character, such as ';', or \t for a tab"),
    }
}
