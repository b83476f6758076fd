//! `plants import`: creates every plant of a file.
//!
//! It keeps no record of how far it came, and writes no file. A create is safe to repeat, so a run
//! that was interrupted is simply run again. Two lines with one id are never under way at once: the
//! first of them is created, in every run.
//!
//! The way of a record, by modules:
//!
//! ```text
//! source → lines, or rows   JSON lines or CSV, read on a thread → record
//!   → creates               claims the id, waits for its turn (pace); RetryingClient sends
//!   → report                in the order of the file: counts, and writes a line to stdout
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
use super::output::say;
use super::signals::interrupted;
use crate::retry_policy;
pub use arguments::Arguments;
use creates::Creates;
use pace::Pace;
use progress::Progress;
use report::{Report, Summary};
use source::Records;

/// How long an import that is interrupted waits for stdout: nobody may read it.
const LAST_WRITE: Duration = Duration::from_secs(1);

/// Runs the import. An error means that nothing was sent.
pub async fn run(arguments: &Arguments, connection: &Connection) -> Result<ExitCode> {
    let client = connection.retrying_client().await?;
    let progress = Progress::new(size(&arguments.file));
    let records = tokio::select! {
        records = source::records(arguments.clone(), progress.bar.clone()) => records?,
        status = interrupted() => return Ok(status),
    };
    let mut report = Report {
        progress: &progress,
        in_flight: arguments.in_flight.into(),
        token: connection.source(),
        in_a_row: 0,
        summary: Summary::default(),
        stdout: tokio::io::stdout(),
    };
    let client = client
        .with_policy(retry_policy().with_max_times(arguments.retries.into()))
        .before_repeat(progress.before_repeat());
    let creates = Creates::new(client, Pace::new(arguments.rate));
    let ended = tokio::select! {
        ended = all(records, &creates, &mut report) => {
            ended.map_err(|error| Ended { error, status: ExitCode::FAILURE })
        }
        status = interrupted() => Err(Ended { error: anyhow!("interrupted"), status }),
        never = progress.say(say) => match never {},
    };
    if ended.is_err() {
        let _ = timeout(LAST_WRITE, report.flush()).await;
    }
    progress.bar.finish_and_clear();
    report.summary.past_rate = Some(creates.pace.refused()).filter(|creates| *creates > 0);
    Ok(conclude(&report.summary, ended))
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

/// Prints the summary, and why the import ended early. Returns the exit status.
fn conclude(summary: &Summary, ended: Result<(), Ended>) -> ExitCode {
    summary.print();
    match ended {
        Err(ended) => ended.report(),
        Ok(()) if summary.refused + summary.given_up > 0 => ExitCode::FAILURE,
        Ok(()) => ExitCode::SUCCESS,
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

/// The size of a file in bytes. A pipe has none.
fn size(file: &Path) -> Option<u64> {
    fs::metadata(file).ok().filter(fs::Metadata::is_file).map(|file| file.len())
}
