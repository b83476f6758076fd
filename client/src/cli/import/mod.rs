//! `plants import`: creates every plant of a file.
//!
//! It keeps no record of how far it came. A create is safe to repeat, so a run that was interrupted
//! is simply run again. Two lines with one id are never under way at once: the first of them is
//! created, in every run.

#[rustfmt::skip]
mod members;
mod progress;
mod rejected;
mod report;
mod rows;
mod source;

use std::cell::RefCell;
use std::collections::HashSet;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, anyhow};
use bytes::Bytes;
use futures::{StreamExt, TryStreamExt};
use reqwest::StatusCode;
use reqwest::header::CONTENT_TYPE;
use serde_json::json;
#[cfg(unix)]
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Notify;

use crate::cli::connection::Connection;
use crate::cli::output::{print, say};
use crate::{
    Answer, Client, ClientInfo, Error, ErrorCode, ResponseValue, RetryingClient, retry_policy,
    types,
};
use progress::Progress;
use rejected::{Rejected, default_path};
use report::{Counts, Done, Outcome, Report};
use source::{Format, Record, Source, refusal};

/// Create every plant of a file
///
/// The file has one JSON object a line, as `plant-store export` writes them, or is CSV: a header
/// with the names of the members, where an empty field is an absent member. It may be compressed by
/// gzip or zstd.
///
/// What is not created does not stop the rest. A new file gets those records as they are, and another
/// one the reasons. Correct the records, and import that file. An import that was interrupted is run
/// again with the same command, and ends with the same store.
#[derive(clap::Args)]
pub struct Arguments {
    /// The file; - is standard input
    file: PathBuf,
    /// How the plants are written. By default CSV if the name ends in .csv, .csv.gz or .csv.zst, and
    /// else JSON lines
    #[arg(long)]
    format: Option<Format>,
    /// The file for the records that are not created; the reasons get the ending .reasons.jsonl. If
    /// one is there already, a number is added. - writes the reasons alone, to standard error. By
    /// default FILE.rejected.jsonl or .csv; if FILE is standard input or a descriptor, stdin.rejected
    #[arg(long, value_name = "REJECTED")]
    rejected: Option<PathBuf>,
    /// Send nothing and write no file: say what this program can see without the service, on standard
    /// error
    #[arg(long, conflicts_with = "rejected")]
    dry_run: bool,
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
    let in_flight = usize::from(arguments.in_flight);
    let client = match arguments.dry_run {
        true => None,
        false => Some(connection.retrying_client().await?),
    };
    let Source { records, format, header, size } =
        source::open(&arguments.file, arguments.format, in_flight)?;
    let rejected = match (&arguments.rejected, arguments.dry_run) {
        (_, true) => Rejected::StandardError,
        (Some(path), _) if path.as_os_str() == "-" => Rejected::StandardError,
        (Some(path), _) => Rejected::new(path.clone(), header)?,
        (None, _) => Rejected::new(default_path(&arguments.file, format), header)?,
    };
    let progress = Progress::new(connection.url(), size);
    let client = client.map(|client| {
        let policy = retry_policy().with_max_times(arguments.retries.into());
        client.with_policy(policy).on_try(progress.of_tries(u32::from(arguments.retries) + 1))
    });
    let import = Import {
        client,
        ids: RefCell::default(),
        freed: Notify::new(),
        progress,
        failed: Notify::new(),
    };
    // After a failure no other create begins, and those that are under way end.
    let done = records
        .and_then(|record| import.when_free(record))
        .take_until(import.failed.notified())
        .map(|record| import.create(record))
        .buffered(in_flight);
    let token = connection.source();
    let (progress, counts) = (&import.progress, Counts::default());
    let mut report = Report { progress, in_flight, token, in_a_row: 0, counts, rejected };
    let (ended, status) = tokio::select! {
        ended = report.of_all(done, &import.failed) => (ended, 1),
        status = interrupted() => (Err(anyhow!("interrupted")), status),
        never = import.progress.of_waits() => match never {},
    };
    import.progress.clear();
    let Report { counts, rejected, .. } = report;
    let Counts { created_or_already_there: plants, refused, .. } = counts;
    match arguments.dry_run {
        true => print(&json!({ "plants": plants, "refused": refused })),
        false => print(&counts),
    }
    match rejected.finish() {
        Ok(None) => {}
        Ok(Some([records, reasons])) => say(&format!(
            "plants: {} holds what was refused or given up, {} says why",
            records.display(),
            reasons.display()
        )),
        Err(error) => say(&format!("plants: {error:#}")),
    }
    if let Err(error) = ended {
        say(&format!("plants: {error:#}; the rest was not tried"));
        say("plants: when the cause is gone, run the same command again");
        return Ok(ExitCode::from(status));
    }
    Ok(ExitCode::from(u8::from(counts.refused + counts.given_up > 0)))
}

/// Waits for a signal that interrupts the import, and gives the exit status.
async fn interrupted() -> u8 {
    let interrupt = tokio::signal::ctrl_c();
    #[cfg(unix)]
    if let Ok(mut terminate) = signal(SignalKind::terminate()) {
        return tokio::select! { _ = interrupt => 130, _ = terminate.recv() => 143 };
    }
    let _ = interrupt.await;
    130
}

struct Import {
    /// None in a dry run.
    client: Option<RetryingClient>,
    /// The ids under way, and how a record that waits for one of them learns of its end.
    ids: RefCell<HashSet<i64>>,
    freed: Notify,
    progress: Progress,
    /// How the stream of records learns that the import cannot go on: it may be waiting for input
    /// that does not come.
    failed: Notify,
}

impl Import {
    /// The record, once no other with its id is under way. Meanwhile no later one is taken. It never
    /// fails: the type is that of the stream.
    async fn when_free(&self, record: Record) -> io::Result<Record> {
        loop {
            let freed = self.freed.notified();
            if record.id.is_none_or(|id| self.ids.borrow_mut().insert(id)) {
                return Ok(record);
            }
            freed.await;
        }
    }

    /// Creates a record, and lets the next one with its id begin.
    async fn create(&self, record: io::Result<Record>) -> Done {
        let record = record?;
        self.progress.begin();
        let outcome = match &record.body {
            Ok(body) => self.send(body).await,
            Err(refused) => Outcome::Refused(refused.clone()),
        };
        if let Some(id) = record.id {
            self.ids.borrow_mut().remove(&id);
            self.freed.notify_waiters();
        }
        self.progress.end(record.text.len() as u64 + 1);
        Ok((record, outcome))
    }

    async fn send(&self, body: &Bytes) -> Outcome {
        let Some(client) = &self.client else {
            // The service is more exact.
            let plant = serde_json::from_slice::<types::NewPlant>(body);
            let refused = |error: serde_json::Error| {
                Outcome::Refused(refusal(ErrorCode::BadRequest, error.to_string()))
            };
            return plant.map_or_else(refused, |_| Outcome::Created);
        };
        let answer = client.repeat(|client| post(client, body.clone())).await;
        let Err(failure) = answer else { return Outcome::Created };
        let is_for_all = failure.code() == Some(ErrorCode::Unauthorized);
        match failure.refusal() {
            _ if failure.is_retryable() => Outcome::GivenUp(failure),
            Some(refused) if !is_for_all => Outcome::Refused(refused.clone()),
            _ => Outcome::Hopeless(failure),
        }
    }
}

/// The operation `create_plant`, with a body as it is in the file: what is a plant and what is not,
/// the service alone decides.
async fn post(client: Client, body: Bytes) -> Answer<types::Plant> {
    let request = client.client().post(format!("{}/plants", client.baseurl()));
    let request = request.header(CONTENT_TYPE, "application/json").body(body);
    let response = request.send().await?;
    match response.status() {
        StatusCode::OK => ResponseValue::from_response(response).await,
        StatusCode::BAD_REQUEST => {
            Err(Error::ErrorResponse(ResponseValue::from_response(response).await?))
        }
        _ => Err(Error::UnexpectedResponse(response)),
    }
}
