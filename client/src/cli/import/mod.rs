//! `plants import`: creates every plant of a file.
//!
//! It keeps no record of how far it came. A create is safe to repeat, so a run that was interrupted
//! is simply run again. Two lines with one id are never under way at once: the first of them is
//! created, in every run.

#[rustfmt::skip]
mod members;
mod progress;
mod rejected;
mod rows;
mod source;

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::{
    Answer, Client, ClientInfo, Error, ErrorCode, ResponseValue, RetryingClient, retry_policy,
    types,
};
use anyhow::{Context, Result, anyhow, ensure};
use futures::{StreamExt, TryStreamExt};
use reqwest::StatusCode;
use reqwest::header::CONTENT_TYPE;
use serde::Serialize;
use serde_json::json;
#[cfg(unix)]
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Notify;

use crate::cli::connection::Connection;
use crate::cli::output::{print, say};
use progress::Progress;
use rejected::{Rejected, default_path};
use source::Record;

/// Create every plant of a file
///
/// The file has one JSON object a line, as `plant-store export` writes them. One whose name ends in
/// .csv has a header with the names of the members; an empty field is an absent member.
///
/// What is not created does not stop the rest. A new file gets its line number and the reason. An
/// import that was interrupted is run again, and ends with the same store.
#[derive(clap::Args)]
pub struct Arguments {
    /// The file; - is standard input, in JSON lines
    file: PathBuf,
    /// The file for what is not created, which must not exist yet; - is standard error. By default
    /// FILE.rejected.jsonl; if FILE is standard input or a descriptor, stdin.rejected.jsonl
    #[arg(long, value_name = "REJECTED")]
    rejected: Option<PathBuf>,
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
    let policy = retry_policy().with_max_times(arguments.retries.into());
    let client = connection.retrying_client().await?.with_policy(policy);
    let in_flight = usize::from(arguments.in_flight);
    let (records, size) = source::open(&arguments.file, in_flight)?;
    let rejected = arguments.rejected.clone().unwrap_or_else(|| default_path(&arguments.file));
    let rejected = Rejected::new(rejected)?;
    let progress = Progress::new(connection.url(), size);
    let client = client.on_retry(progress.of_retries(u32::from(arguments.retries) + 1));
    let import = Import {
        client,
        in_flight,
        ids: RefCell::default(),
        freed: Notify::new(),
        given_up_in_a_row: Cell::default(),
        counts: RefCell::default(),
        rejected: RefCell::new(rejected),
        progress,
        failure: RefCell::default(),
        failed: Notify::new(),
    };
    // After a failure no other create begins, and those that are under way end.
    let creates = records
        .and_then(|record| import.when_free(record))
        .take_until(import.failed.notified())
        .for_each_concurrent(in_flight, |record| async {
            if let Err(error) = import.create(record).await {
                import.failure.borrow_mut().get_or_insert(error);
                import.failed.notify_one();
            }
        });
    let (ended, status) = tokio::select! {
        () = creates => (import.failure.take().map_or(Ok(()), Err), 1),
        status = interrupted() => (Err(anyhow!("interrupted")), status),
        never = import.progress.of_waits() => match never {},
    };
    import.progress.clear();
    let counts = import.counts.take();
    print(&counts);
    match import.rejected.into_inner().finish() {
        Ok(None) => {}
        Ok(Some(path)) => say(&format!("plants: {} says what was not created", path.display())),
        Err(error) => say(&format!("plants: {error:#}")),
    }
    if let Err(error) = ended {
        say(&format!("plants: {error:#}; import the file again to create the rest"));
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

/// How many plants had which outcome.
#[derive(Default, Serialize)]
struct Counts {
    created_or_already_there: u64,
    refused: u64,
    given_up: u64,
    /// The cause of the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    given_up_because: Option<String>,
}

struct Import {
    client: RetryingClient,
    in_flight: usize,
    /// The ids under way, and how a record that waits for one of them learns of its end.
    ids: RefCell<HashSet<i64>>,
    freed: Notify,
    given_up_in_a_row: Cell<usize>,
    counts: RefCell<Counts>,
    rejected: RefCell<Rejected>,
    progress: Progress,
    /// Why the import cannot go on, and how the stream of records learns of it: it may be waiting
    /// for input that does not come.
    failure: RefCell<Option<anyhow::Error>>,
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
    async fn create(&self, record: io::Result<Record>) -> Result<()> {
        let record = record.context("cannot read on")?;
        self.progress.begin();
        let created = self.send(&record).await;
        if let Some(id) = record.id {
            self.ids.borrow_mut().remove(&id);
            self.freed.notify_waiters();
        }
        self.progress.end(record.bytes);
        created
    }

    /// Sends a record and counts what became of it. Fails if every other one would fail too.
    async fn send(&self, Record { line, plant, .. }: &Record) -> Result<()> {
        let body = match plant {
            Ok(body) => body,
            Err(refused) => return self.refused(*line, refused),
        };
        let Err(failure) = self.client.repeat(|client| post(client, body.clone())).await else {
            self.given_up_in_a_row.set(0);
            self.counts.borrow_mut().created_or_already_there += 1;
            return Ok(());
        };
        match failure.refusal() {
            // A service that fails as many in a row as are under way at once fails the others too.
            _ if failure.is_retryable() => {
                {
                    let mut counts = self.counts.borrow_mut();
                    counts.given_up += 1;
                    counts.given_up_because = Some(failure.root_cause());
                }
                self.reject(
                    *line,
                    failure.refusal().map(|refused| refused.error),
                    &failure.to_string(),
                )?;
                self.given_up_in_a_row.update(|given_up| given_up + 1);
                let given_up = self.given_up_in_a_row.get();
                ensure!(
                    given_up < self.in_flight,
                    "the service creates nothing any longer: {failure}"
                );
                Ok(())
            }
            Some(refused) if failure.code() != Some(ErrorCode::Unauthorized) => {
                self.refused(*line, refused)
            }
            _ => Err(failure.into()),
        }
    }

    fn refused(&self, line: u64, refused: &types::Error) -> Result<()> {
        self.given_up_in_a_row.set(0);
        self.counts.borrow_mut().refused += 1;
        self.reject(line, Some(refused.error), &refused.message)
    }

    fn reject(&self, line: u64, error: Option<i32>, message: &str) -> Result<()> {
        let mut rejected = json!({ "line": line, "message": message });
        if let Some(error) = error {
            rejected["error"] = error.into();
        }
        let write = || self.rejected.borrow_mut().write(&rejected);
        self.progress.beside(write).context("cannot write what was not created")
    }
}

/// The operation `create_plant`, with a body as it is in the file: what is a plant and what is not,
/// the service alone decides.
async fn post(client: Client, body: Vec<u8>) -> Answer<types::Plant> {
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
