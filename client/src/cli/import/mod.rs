//! `plants import`: creates every plant of a file.
//!
//! It keeps no record of how far it came. A create is safe to repeat, so a run that was interrupted
//! is simply run again. Two lines with one id are never under way at once: the first of them is
//! created, in every run.
//!
//! The way of a record, by modules:
//!
//! ```text
//! source → lines, or rows   JSON lines or CSV, read on a thread → record
//!   → creates               claims the id, waits for the rate; RetryingClient sends and repeats
//!   → report                in the order of the file: counts → rejected, progress
//! ```

mod creates;
mod lines;
mod progress;
mod record;
mod rejected;
mod report;
mod rows;
mod source;

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, anyhow};
use clap::builder::TypedValueParser;
use futures::{StreamExt, TryStreamExt};
#[cfg(unix)]
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Notify;

use crate::cli::connection::Connection;
use crate::cli::output::{print, say};
use crate::retry_policy;
use creates::Creates;
use progress::Progress;
use rejected::Rejected;
use report::{Report, Summary};
use source::{Format, Input, Records, Source};

/// Create every plant of a file
///
/// The file has one JSON object a line, as `plant-store export` writes them, or is CSV: a header
/// with the names of the members, where an empty optional field is an absent member.
///
/// What is not created does not stop the rest. A new file gets those records, and another one the
/// reasons. Correct the records, and import that file. An import that was interrupted is run again
/// with the same command, and ends with the same store.
#[derive(clap::Args)]
pub struct Arguments {
    /// The file; - is standard input
    file: PathBuf,
    /// How the plants are written. By default CSV if the name ends in .csv, and else JSON lines
    #[arg(long)]
    format: Option<Format>,
    /// The file for the records that are not created; the reasons get the ending .reasons.jsonl. If
    /// one is there already, a number is added. By default FILE.rejected.jsonl or .csv; if FILE is
    /// standard input or a descriptor, stdin.rejected
    #[arg(long, value_name = "REJECTED")]
    rejected: Option<PathBuf>,
    /// Send also what has members or columns that the contract does not have, without them
    #[arg(long)]
    ignore_unknown: bool,
    /// How many creates are sent a second. By default as many as the service answers
    #[arg(long, value_name = "CREATES")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..).try_map(NonZeroU32::try_from))]
    rate: Option<NonZeroU32>,
    /// How many creates are under way at once
    #[arg(long, value_name = "CREATES", default_value_t = 64)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    in_flight: u16,
    /// How often a create is repeated before it is given up, after pauses of 0.1 to 10 seconds
    #[arg(long, value_name = "REPEATS", default_value_t = 10)]
    retries: u16,
}

/// Runs the import. An error means that nothing was sent.
pub async fn run(arguments: &Arguments, connection: &Connection) -> Result<ExitCode> {
    let client = connection.retrying_client().await?;
    let input = Input::open(&arguments.file)?;
    let progress = Progress::new(input.size);
    let Source { records, header } = Source::new(input, arguments, &progress.bar)?;
    let mut report = Report {
        progress: &progress,
        in_flight: arguments.in_flight.into(),
        token: connection.source(),
        in_a_row: 0,
        summary: Summary::default(),
        rejected: Rejected::new(arguments.rejected_path(), header)?,
    };
    let client = client
        .with_policy(retry_policy().with_max_times(arguments.retries.into()))
        .before_repeat(progress.before_repeat());
    let creates = Creates::new(client, arguments.rate);
    let ended = tokio::select! {
        ended = all(records, &creates, &mut report) => {
            ended.map_err(|error| Ended { error, status: ExitCode::FAILURE })
        }
        status = interrupted() => Err(Ended { error: anyhow!("interrupted"), status }),
        never = progress.say(say) => match never {},
    };
    progress.bar.finish_and_clear();
    Ok(conclude(&report, ended))
}

/// Creates the records and reports each, in the order of the file. Fails if that cannot go on.
async fn all(records: Records, creates: &Creates, report: &mut Report<'_>) -> Result<()> {
    // How the stream of records learns that the import cannot go on: it may be waiting for input
    // that does not come. No other create begins then, and those that are under way end.
    let failed = Notify::new();
    let claimed = records.and_then(|record| creates.claim_id(record)).take_until(failed.notified());
    let done = claimed.map(|record| creates.create(record)).buffered(report.in_flight);
    report.add_all(done, &failed).await
}

/// Prints the summary, and says where the rejected records are and why the import ended early.
/// Returns the exit status.
fn conclude(report: &Report, ended: Result<(), Ended>) -> ExitCode {
    let Report { summary, rejected, .. } = report;
    let printed = print(summary);
    if let Some(names) = rejected.names() {
        say(&format!(
            "plants: {} holds what was refused or given up, {} says why",
            names.records.display(),
            names.reasons.display()
        ));
    }
    match (ended, printed) {
        (Err(ended), _) => ended.report(),
        (Ok(()), Err(error)) => {
            say(&format!("plants: {error:#}"));
            ExitCode::FAILURE
        }
        (Ok(()), Ok(())) if summary.refused + summary.given_up > 0 => ExitCode::FAILURE,
        (Ok(()), Ok(())) => ExitCode::SUCCESS,
    }
}

/// Why an import ended early, and the exit status of that.
struct Ended {
    error: anyhow::Error,
    status: ExitCode,
}

impl Ended {
    /// Says why, and what to do. Returns the exit status.
    fn report(self) -> ExitCode {
        say(&format!("plants: {:#}; the rest was not tried", self.error));
        say("plants: when the cause is gone, run the same command again");
        self.status
    }
}

impl Arguments {
    /// How the plants are written, by the name of the file if nothing is said.
    fn format(&self) -> Format {
        let is_csv = self.file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv"));
        self.format.unwrap_or(if is_csv { Format::Csv } else { Format::Jsonl })
    }

    /// The file for what is not created. By default it is beside the file, or in the current folder
    /// if the file is a stream, which has no folder of the user's.
    fn rejected_path(&self) -> PathBuf {
        if let Some(path) = &self.rejected {
            return path.clone();
        }
        let is_standard_input = ["-", "/dev/stdin"].map(Path::new).contains(&&*self.file);
        let is_descriptor = self.file.starts_with("/dev/fd") || self.file.starts_with("/proc");
        let is_stream = is_standard_input || is_descriptor;
        let mut name = if is_stream { "stdin".into() } else { self.file.as_os_str().to_owned() };
        name.push(if self.format() == Format::Csv { ".rejected.csv" } else { ".rejected.jsonl" });
        name.into()
    }
}

/// The exit status after a signal, as a shell has it: 128 and the number of the signal.
const BY_SIGINT: u8 = 130;
#[cfg(unix)]
const BY_SIGTERM: u8 = 143;

/// Waits for a signal that interrupts the import, and gives the exit status.
async fn interrupted() -> ExitCode {
    let interrupt = tokio::signal::ctrl_c();
    #[cfg(unix)]
    if let Ok(mut terminate) = signal(SignalKind::terminate()) {
        return tokio::select! {
            _ = interrupt => ExitCode::from(BY_SIGINT),
            _ = terminate.recv() => ExitCode::from(BY_SIGTERM),
        };
    }
    let _ = interrupt.await;
    ExitCode::from(BY_SIGINT)
}
