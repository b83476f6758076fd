//! `plants import`: creates every plant of a file.
//!
//! It keeps no record of how far it came. A create is safe to repeat, so a run that was interrupted
//! is simply run again. Two lines with one id are never under way at once: the first of them is
//! created, in every run.

mod progress;
mod rejected;
mod source;

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, anyhow};
use futures::future::try_join_all;
use plant_store_client::{
    Client, ClientInfo, Error, ResponseValue, RetryingClient, explained, may_repeat, refusal,
    retry_policy, types,
};
use reqwest::header::CONTENT_TYPE;
use reqwest::{StatusCode, Url};
use serde::Serialize;
use tokio::sync::{Mutex, Notify};

use crate::connection::Connection;
use crate::output::print;
use progress::Progress;
use rejected::Rejected;
use source::{Record, Records};

/// Create every plant of a file
///
/// The file has one JSON object a line, as `plant-store export` writes them. One whose name ends in
/// .csv has a header with the names of the members; an empty field is an absent member.
///
/// What is not created is written to FILE.rejected.jsonl with its line number, and does not stop the
/// rest. An import that was interrupted is run again, and ends with the same store.
#[derive(clap::Args)]
pub struct Arguments {
    /// The file; - is standard input, in JSON lines
    file: PathBuf,
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
    let in_flight = usize::from(arguments.in_flight);
    let (records, size) = source::open(&arguments.file, in_flight)?;
    let policy = retry_policy().with_max_times(arguments.retries.into());
    let import = Import {
        client: client.with_policy(policy),
        url: format!("{}/plants", connection.base_url()).parse()?,
        in_flight,
        records: Mutex::new(records),
        ids: RefCell::default(),
        freed: Notify::new(),
        given_up_in_a_row: Cell::default(),
        counts: RefCell::default(),
        rejected: RefCell::new(Rejected::beside(&arguments.file)?),
        progress: Progress::new(size),
    };
    let workers = (0..in_flight).map(|_| import.work());
    let (ended, status) = tokio::select! {
        ended = try_join_all(workers) => (ended.map(drop), ExitCode::from(1)),
        _ = tokio::signal::ctrl_c() => (Err(anyhow!("interrupted")), ExitCode::from(130)),
    };
    import.progress.clear();
    let ended = ended.and(import.rejected.borrow_mut().finish());
    let counts = import.counts.into_inner();
    print(&counts);
    match ended {
        Ok(()) if counts.refused + counts.given_up == 0 => Ok(ExitCode::SUCCESS),
        Ok(()) => Ok(ExitCode::from(1)),
        Err(error) => {
            eprintln!("plants: {error:#}; run the same command again to create the rest");
            Ok(status)
        }
    }
}

/// How many plants had which outcome.
#[derive(Default, Serialize)]
struct Counts {
    created_or_already_there: u64,
    refused: u64,
    given_up: u64,
}

struct Import {
    client: RetryingClient,
    /// Where plants are created, parsed once.
    url: Url,
    in_flight: usize,
    records: Mutex<Records>,
    /// The ids under way, and how a worker that waits for one of them learns of its end.
    ids: RefCell<HashSet<i64>>,
    freed: Notify,
    given_up_in_a_row: Cell<usize>,
    counts: RefCell<Counts>,
    rejected: RefCell<Rejected>,
    progress: Progress,
}

impl Import {
    /// Creates one plant after the other, until none is left.
    async fn work(&self) -> Result<()> {
        while let Some(record) = self.next().await? {
            self.create(&record).await?;
            if let Some(id) = record.id {
                self.ids.borrow_mut().remove(&id);
                self.freed.notify_waiters();
            }
            self.progress.add(&record);
        }
        Ok(())
    }

    /// The next record, once no other with its id is under way. Meanwhile no later one is taken.
    async fn next(&self) -> Result<Option<Record>> {
        let mut records = self.records.lock().await;
        let Some(record) = records.next().await? else { return Ok(None) };
        if let Some(id) = record.id {
            loop {
                let freed = self.freed.notified();
                if self.ids.borrow_mut().insert(id) {
                    break;
                }
                freed.await;
            }
        }
        Ok(Some(record))
    }

    /// Sends a record and counts what became of it. Fails where every other would fail too.
    async fn create(&self, Record { line, plant, .. }: &Record) -> Result<()> {
        let body = match plant {
            Ok(body) => body,
            Err(refused) => return self.refused(*line, refused),
        };
        let send = |client: Client| send(client, self.url.clone(), body.clone());
        let Err(error) = self.client.repeat(send).await else {
            self.given_up_in_a_row.set(0);
            self.counts.borrow_mut().created_or_already_there += 1;
            return Ok(());
        };
        match refusal(&error) {
            _ if may_repeat(&error) => self.given_up(*line, &error),
            Some(refused) if refused.error != 401 => self.refused(*line, refused),
            _ => Err(anyhow!(explained(&error))),
        }
    }

    fn refused(&self, line: u64, refused: &types::Error) -> Result<()> {
        self.given_up_in_a_row.set(0);
        self.counts.borrow_mut().refused += 1;
        self.rejected.borrow_mut().write(line, Some(refused.error), &refused.message)
    }

    /// A service that has failed as many plants in a row as are sent at once fails the others too.
    fn given_up(&self, line: u64, error: &Error<types::Error>) -> Result<()> {
        self.counts.borrow_mut().given_up += 1;
        let (number, why) = (refusal(error).map(|refused| refused.error), explained(error));
        self.rejected.borrow_mut().write(line, number, &why)?;
        self.given_up_in_a_row.update(|given_up| given_up + 1);
        match self.given_up_in_a_row.get() < self.in_flight {
            true => Ok(()),
            false => Err(anyhow!("the service creates nothing any longer: {why}")),
        }
    }
}

/// The operation `create_plant`, with a body as it is in the file: what is a plant and what is not,
/// the service alone decides.
async fn send(
    client: Client,
    url: Url,
    body: Vec<u8>,
) -> Result<ResponseValue<types::Plant>, Error<types::Error>> {
    let request = client.client().post(url).header(CONTENT_TYPE, "application/json");
    let response = request.body(body).send().await?;
    match response.status() {
        StatusCode::OK => ResponseValue::from_response(response).await,
        StatusCode::BAD_REQUEST => {
            Err(Error::ErrorResponse(ResponseValue::from_response(response).await?))
        }
        _ => Err(Error::UnexpectedResponse(response)),
    }
}
