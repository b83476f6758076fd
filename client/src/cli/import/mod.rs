//! `plants import`: creates every plant of a file.
//!
//! It keeps no record of how far it came. A create is safe to repeat, so a run that was interrupted
//! is simply run again. Two lines with one id are never under way at once: the first of them is
//! created, in every run.
//!
//! The way of a record, by modules:
//!
//! ```text
//! source → unpack, advice, format  the file: packed or not, JSON lines or CSV
//!   → lines, or rows               a record each, read on a thread → record
//!       rows → header, recording   the columns of CSV, and the rows as they are in the file
//!   → creates                      claims the id; cli::body judges; RetryingClient repeats
//!       → pace                     waits for the rate of the token → cli::create sends
//!   → report                       in the order of the file: counts → rejected, progress
//! ```

mod advice;
mod count;
mod creates;
mod format;
mod header;
mod lines;
mod pace;
mod progress;
mod record;
mod recording;
mod rejected;
mod report;
mod rows;
mod source;
mod unpack;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, anyhow};
use futures::{StreamExt, TryStreamExt};
use serde_json::json;
#[cfg(unix)]
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Notify;

use crate::cli::connection::Connection;
use crate::cli::output::{print, say};
use crate::retry_policy;
use creates::Creates;
use format::Format;
use progress::Progress;
use rejected::{Rejected, default_path};
use report::{Counts, Report};
use source::{Reading, Records, Source};

/// Create every plant of a file
///
/// The file has one JSON object a line, as `plant-store export` writes them, or is CSV: a header
/// with the names of the members, where an empty field is an absent member. It may be compressed by
/// gzip or zstd.
///
/// What is not created does not stop the rest. A new file gets those records as they are, and
/// another one the reasons. Correct the records, and import that file. An import that was
/// interrupted is run again with the same command, and ends with the same store.
#[derive(clap::Args)]
pub struct Arguments {
    /// The file; - is standard input
    file: PathBuf,
    /// How the plants are written. By default CSV if the name ends in .csv, .csv.gz or .csv.zst,
    /// and else JSON lines
    #[arg(long)]
    format: Option<Format>,
    /// The file for the records that are not created; the reasons get the ending .reasons.jsonl. If
    /// one is there already, a number is added. - writes the reasons alone, to standard error. By
    /// default FILE.rejected.jsonl or .csv; if FILE is standard input or a descriptor,
    /// stdin.rejected
    #[arg(long, value_name = "REJECTED")]
    rejected: Option<PathBuf>,
    /// Send nothing and write no file: say what this program can see without the service, on
    /// standard error
    #[arg(long, conflicts_with = "rejected")]
    dry_run: bool,
    /// Send also what has members or columns that the contract does not have: the service ignores
    /// such members, and such columns are left out
    #[arg(long)]
    ignore_unknown: bool,
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
    let client = if arguments.dry_run { None } else { Some(connection.retrying_client().await?) };
    let Source { records, format, header, size } =
        Source::open(&arguments.file, &arguments.reading())?;
    let rejected = match arguments.rejected_path(format) {
        Some(path) => Rejected::new(path, header)?,
        None => Rejected::StandardError,
    };
    let progress = Progress::new(connection.url(), size);
    let patient = client.map(|client| {
        let policy = retry_policy().with_max_times(arguments.retries.into());
        let hook = progress.retry_hook(u32::from(arguments.retries) + 1);
        client.with_policy(policy).on_try(hook)
    });
    let creates = Creates::new(patient, &progress, arguments.ignore_unknown);
    let mut report = Report {
        progress: &progress,
        in_flight: arguments.in_flight.into(),
        token: connection.source(),
        in_a_row: 0,
        counts: Counts::default(),
        rejected,
        format,
    };
    let ended = tokio::select! {
        ended = all(records, &creates, &mut report) => {
            ended.map_err(|error| Ended { error, status: ExitCode::FAILURE })
        }
        status = interrupted() => Err(Ended { error: anyhow!("interrupted"), status }),
        never = progress.show_waits() => match never {},
    };
    progress.clear();
    let Report { counts, rejected, .. } = report;
    print_counts(&counts, arguments.dry_run);
    say_where(rejected);
    Ok(match ended {
        Ok(()) if counts.refused + counts.given_up > 0 => ExitCode::FAILURE,
        Ok(()) => ExitCode::SUCCESS,
        Err(ended) => ended.report(),
    })
}

/// Creates the records and reports each, in the order of the file. Fails if that cannot go on.
async fn all(records: Records, creates: &Creates<'_>, report: &mut Report<'_>) -> Result<()> {
    // How the stream of records learns that the import cannot go on: it may be waiting for input
    // that does not come. No other create begins then, and those that are under way end.
    let failed = Notify::new();
    let claimed = records.and_then(|record| creates.claim_id(record)).take_until(failed.notified());
    let judged = claimed.map(|record| creates.create(record)).buffered(report.in_flight);
    report.add_all(judged, &failed).await
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
    fn reading(&self) -> Reading {
        Reading {
            format: self.format,
            ignores_unknown: self.ignore_unknown,
            ahead: self.in_flight.into(),
        }
    }

    /// The file for what is not created, or `None` if the reasons go to standard error.
    fn rejected_path(&self, format: Format) -> Option<PathBuf> {
        if self.dry_run {
            return None;
        }
        match &self.rejected {
            Some(path) if path == Path::new("-") => None,
            Some(path) => Some(path.clone()),
            None => Some(default_path(&self.file, format)),
        }
    }
}

/// Prints how many plants had which outcome.
fn print_counts(counts: &Counts, is_dry_run: bool) {
    if is_dry_run {
        let plants = counts.created_or_already_there;
        print(&json!({ "plants": plants, "refused": counts.refused }));
    } else {
        print(counts);
    }
}

/// Says which files hold what was not created, if there are any.
fn say_where(rejected: Rejected) {
    match rejected.finish() {
        Ok(None) => {}
        Ok(Some(names)) => say(&format!(
            "plants: {} holds what was refused or given up, {} says why",
            names.records.display(),
            names.reasons.display()
        )),
        Err(error) => say(&format!("plants: {error:#}")),
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
