//! The command line of `plants import`.

use std::num::NonZeroU32;
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::builder::TypedValueParser;

/// Create every plant of a file
///
/// The file has one JSON object a line, as `plant-store export` writes them, or is CSV: a header
/// with the names of the members, where an empty optional field is an absent member.
///
/// What is not created does not stop the rest. Stdout gets a line of JSON for each such record: its
/// `line`, the `error` of the service, a `message`, and the record as `plant`, or as `text` if it
/// cannot be read as a plant. The summary and the progress go to stderr. After anything, the same
/// command may be run again, and ends with the same store.
#[derive(clap::Args, Clone)]
pub struct Arguments {
    /// The file; - is stdin
    pub file: PathBuf,
    /// How the plants are written. By default CSV if the name ends in .csv or --delimiter is given,
    /// and else JSON lines
    #[arg(long)]
    format: Option<Format>,
    /// What separates the fields of CSV, such as ';' or '\t'. By default a comma
    #[arg(long, value_name = "CHARACTER", value_parser = delimiter)]
    delimiter: Option<u8>,
    /// Send also what has members or columns that the contract does not have, without them
    #[arg(long)]
    pub ignore_unknown: bool,
    /// How many creates are sent a second. By default as many as the service answers
    #[arg(long, value_name = "CREATES")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..).try_map(NonZeroU32::try_from))]
    pub rate: Option<NonZeroU32>,
    /// How many creates are under way at once
    #[arg(long, value_name = "CREATES", default_value_t = 64)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    pub in_flight: u16,
    /// How often a create is repeated before it is given up, after pauses of 0.1 to 10 seconds
    #[arg(long, value_name = "REPEATS", default_value_t = 10)]
    pub retries: u16,
}

/// How the plants are written.
#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
pub enum Format {
    /// One JSON object a line
    Jsonl,
    /// Fields that a delimiter separates, with the names of the members in the first line
    Csv,
}

impl Arguments {
    /// How the plants are written: by the name of the file if no argument says it.
    pub fn format(&self) -> Result<Format> {
        let is_csv = self.file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv"));
        match (self.format, self.delimiter) {
            (Some(Format::Jsonl), Some(_)) => bail!("JSON lines have no --delimiter"),
            (Some(format), _) => Ok(format),
            (None, None) if !is_csv => Ok(Format::Jsonl),
            (None, _) => Ok(Format::Csv),
        }
    }

    /// What separates the fields of CSV.
    pub fn delimiter(&self) -> u8 {
        self.delimiter.unwrap_or(b',')
    }
}

/// One character of ASCII. A shell gives `'\t'` as two.
fn delimiter(text: &str) -> Result<u8, &'static str> {
    match text.as_bytes() {
        br"\t" => Ok(b'\t'),
        &[character] if character.is_ascii() && !b"\"\r\n".contains(&character) => Ok(character),
        _ => Err(r"give one character, such as ';', or \t for a tab"),
    }
}
