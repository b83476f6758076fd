//! `plants import`: creates every plant of a file.
//!
//! It keeps no record of its progress and writes no file. A create is idempotent, so an interrupted
//! import is simply run again. Two lines with the same id are never in flight together: the first
//! of them is created, in every run.
//!
//! The path of a record through the modules:
//!
//! ```text
//! source → lines or rows   parses JSON lines or CSV on a thread → record
//!   → creates              claims the id, waits for its turn (pace), sends with RetryingClient
//!   → report               in the order of the file: counts, and writes a line to stdout
//! ```

mod arguments;
mod creates;
mod lines;
mod pace;
mod progress;
mod record;
mod report;
mod rows;
mod source;

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, anyhow};
use futures::{StreamExt, TryStreamExt};
use tokio::sync::Notify;
use tokio::time::timeout;

use super::connection::Connection;
use super::output::print_to_stderr;
use super::signals::interrupted;
use crate::retry_policy;
pub use arguments::Arguments;
use creates::Creator;
use pace::Pace;
use progress::Progress;
use report::{Report, Summary};
use source::Records;

/// How long an interrupted import waits for stdout, which may be a pipe that nobody reads.
const LAST_WRITE: Duration = Duration::from_secs(1);

/// Runs the import. An error means that nothing was sent.
pub async fn run(arguments: &Arguments, connection: &Connection) -> Result<ExitCode> {
    let client = connection.retrying_client().await?;
    let progress = Progress::new(size(&arguments.file));
    let records = tokio::select! {
        records = source::records(arguments.clone(), progress.bar.clone()) => records?,
        exit_code = interrupted() => return Ok(exit_code),
    };
    let mut report = Report {
        progress: &progress,
        in_flight: arguments.in_flight.into(),
        token_source: connection.token_source(),
        given_up_in_a_row: 0,
        summary: Summary::default(),
        stdout: tokio::io::stdout(),
    };
    let client = client
        .with_policy(retry_policy().with_max_times(arguments.retries.into()))
        .before_retry(progress.before_retry());
    let creator = Creator::new(client, Pace::new(arguments.rate));
    let result = tokio::select! {
        result = create_all(records, &creator, &mut report) => {
            result.map_err(|error| Aborted { error, exit_code: ExitCode::FAILURE })
        }
        exit_code = interrupted() => Err(Aborted { error: anyhow!("interrupted"), exit_code }),
        never = progress.report(print_to_stderr) => match never {},
    };
    if result.is_err() {
        let _ = timeout(LAST_WRITE, report.flush()).await;
    }
    progress.bar.finish_and_clear();
    report.summary.past_rate = Some(creator.pace.refused()).filter(|creates| *creates > 0);
    Ok(conclude(&report.summary, result))
}

/// Creates the records and reports each, in the order of the file. Fails if the import cannot
/// continue.
async fn create_all(records: Records, creator: &Creator, report: &mut Report<'_>) -> Result<()> {
    // Ends the stream of records on a failure, even while it waits for input. No new create begins
    // then, and the creates in flight run to their end.
    let failed = Notify::new();
    let claimed = records.and_then(|record| creator.claim_id(record)).take_until(failed.notified());
    let finished = claimed.map(|record| creator.create(record)).buffered(report.in_flight);
    report.add_all(finished, &failed).await
}

/// Prints the summary, and why the import ended early if it did. Returns the exit code.
fn conclude(summary: &Summary, result: Result<(), Aborted>) -> ExitCode {
    summary.print();
    match result {
        Err(aborted) => aborted.report(),
        Ok(()) if summary.refused + summary.given_up > 0 => ExitCode::FAILURE,
        Ok(()) => ExitCode::SUCCESS,
    }
}

/// Why an import ended early, and its exit code.
struct Aborted {
    error: anyhow::Error,
    exit_code: ExitCode,
}

impl Aborted {
    /// Prints why the import ended and how to continue. Returns the exit code.
    fn report(self) -> ExitCode {
        print_to_stderr(&format!("plants: {:#}; the rest was not tried", self.error));
        print_to_stderr(
            "plants: to finish the import, resolve the cause and run the same command again",
        );
        self.exit_code
    }
}

/// Returns the size of a file in bytes. A pipe has no size.
fn size(file: &Path) -> Option<u64> {
    fs::metadata(file).ok().filter(fs::Metadata::is_file).map(|file| file.len())
}
