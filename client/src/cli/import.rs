//! `plants import`: creates every plant of a file of JSON lines.
//!
//! It keeps no record of its progress and writes no file. A create is idempotent, so an import that
//! ended early is simply run again.
//!
//! Up to `--in-flight` lines are sent at once, and they are reported in the order of the file.
//! While that many lines wait to be reported, no further line is read.

mod lines;

use std::io;
use std::path::PathBuf;
use std::pin::pin;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};
use futures::{StreamExt, TryStreamExt};
use tokio::sync::Mutex;

use super::contract::parse;
use super::{check_token, say, write};
use crate::types::NewPlant;
use crate::{Client, Failure, GeneratedClient, StatusCode, retry_policy};
use lines::{Line, lines};

/// The length limit of a reason, in characters. A reason may repeat a value of any length.
const LONGEST_REASON: usize = 500;

/// The number of locks that the ids share: a prime, because ids may have a common divisor.
const LOCKS: u16 = 4093;

/// Create every plant of a file
///
/// The file contains one JSON object per line, as `plant-store export` writes them. A line that the
/// service refuses, or that is no plant, is written to standard output, unchanged and in the order
/// of the file, and the reason to standard error. So `plants import a > rejected; plants import
/// rejected` tries these lines again. The import is idempotent: if it ended early, run the same
/// command again.
#[derive(clap::Args)]
pub struct Arguments {
    /// File to import; - is standard input
    file: PathBuf,
    /// Ignore members that the contract does not have, instead of refusing them
    #[arg(long)]
    ignore_unknown: bool,
    /// How many creates may be in flight at once
    #[arg(long, value_name = "CREATES", default_value_t = 64)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    in_flight: u16,
    /// How often to retry a create, with exponential backoff from 0.1 to 10 seconds and jitter of
    /// up to as much again
    #[arg(long, value_name = "RETRIES", default_value_t = 10)]
    retries: u16,
}

/// The outcome of a line after which the import goes on.
enum Outcome {
    /// The plant was created, or already existed.
    Created,
    /// The plant was refused, or the line is not a plant, for this reason.
    Rejected(Line, String),
}

/// What the creates of an import share.
struct Import<'a> {
    arguments: &'a Arguments,
    /// The name of the file.
    name: String,
    client: Client,
    /// A plant is created under the lock of its id. Locks are fair, so that the first of several
    /// lines with the same id is created, in every run.
    locks: Vec<Mutex<()>>,
}

/// Runs the import. An error means that no plant was sent.
pub async fn run(arguments: &Arguments, client: Client) -> Result<ExitCode> {
    let file = &arguments.file;
    let lines = lines(file, arguments.in_flight)?;
    // A wrong URL or token fails at once, and not after the retries.
    check_token(&client).await?;
    let import = Import {
        arguments,
        name: file.display().to_string(),
        client: client.with_retries(retry_policy().with_max_times(arguments.retries.into())),
        locks: (0..LOCKS).map(|_| Mutex::default()).collect(),
    };
    let outcomes = lines.map(|line| import.create(line)).buffered(arguments.in_flight.into());
    let mut outcomes = pin!(outcomes);
    let mut created: u64 = 0;
    let mut rejected: u64 = 0;
    let ended = loop {
        match outcomes.try_next().await {
            Ok(Some(Outcome::Created)) => created += 1,
            Ok(Some(Outcome::Rejected(line, reason))) => {
                rejected += 1;
                let reason = import.reason(line.number, &reason);
                if let Err(error) = report(line, &reason) {
                    break Err(error);
                }
            }
            Ok(None) => break Ok(()),
            Err(reason) => break Err(reason),
        }
    };
    let is_complete = ended.is_ok() && created > 0 && rejected == 0;
    let end = match ended {
        Err(reason) => format!("; {reason:#}; run the same command again"),
        Ok(()) if created + rejected == 0 => format!("; {} contains no line", import.name),
        Ok(()) => String::new(),
    };
    say(&format!("plants: {created} created or already there, {rejected} rejected{end}"));
    Ok(if is_complete { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Import<'_> {
    /// Creates the plant of a line. An error ends the import: the file cannot be read any more, the
    /// token is refused, or a failure that may pass has lasted through the retries.
    async fn create(&self, line: io::Result<Line>) -> Result<Outcome> {
        let line = line.with_context(|| format!("cannot read {}", self.name))?;
        let plant = match &line.text {
            Some(text) => parse::<NewPlant>(text, self.arguments.ignore_unknown),
            None => Err(anyhow!("the line is longer than 1 MiB, and is not repeated here")),
        };
        let plant = match plant {
            Ok(plant) => plant,
            Err(error) => {
                let reason = error.to_string().replace(" at line 1 column ", " at column ");
                return Ok(Outcome::Rejected(line, reason));
            }
        };
        let lock = usize::try_from(plant.id.rem_euclid(LOCKS.into())).expect("a small number");
        let _turn = self.locks[lock].lock().await;
        let sent = self.client.create_plant().body(plant).send().await;
        match sent.map_err(Failure::from) {
            Ok(_) => Ok(Outcome::Created),
            Err(failure) if is_about_the_plant(&failure) => {
                Ok(Outcome::Rejected(line, failure.to_string()))
            }
            Err(failure) => bail!("{}", self.reason(line.number, &failure.to_string())),
        }
    }

    fn reason(&self, number: u64, reason: &str) -> String {
        let reason: String = reason.chars().take(LONGEST_REASON).collect();
        format!("{}:{number}: {reason}", self.name)
    }
}

/// Whether no retry can mend the failure, and other plants may be created.
fn is_about_the_plant(failure: &Failure) -> bool {
    !failure.is_retryable() && failure.code() != Some(StatusCode::UNAUTHORIZED)
}

/// Writes a rejected line to stdout, and the reason to stderr.
fn report(line: Line, reason: &str) -> Result<()> {
    if let Some(mut text) = line.text {
        if !text.ends_with(b"\n") {
            text.push(b'\n');
        }
        write(&text)?;
    }
    say(reason);
    Ok(())
}
