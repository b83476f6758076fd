//! Sends the creates of an import. Two records with the same id are never in flight together, so
//! the first of them is created, in every run.

use std::cell::RefCell;
use std::collections::HashSet;
use std::io;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::sleep;

use super::pace::Pace;
use super::record::{InvalidRecord, Record};
use crate::types::{self, NewPlant};
use crate::{ErrorCode, Failure, RetryingClient};

/// The outcome of a record.
pub enum Outcome {
    /// The plant was created, or already existed.
    Created,
    /// The service refused the plant, or the record is not a plant.
    Refused(types::Error),
    /// The last retry failed.
    GivenUp(Failure),
    /// Every other create would fail too.
    Fatal(Failure),
}

/// A record and its outcome.
pub struct Finished {
    pub record: Record,
    pub outcome: Outcome,
}

/// Sends the creates of an import.
pub struct Creator {
    client: RetryingClient,
    pub pace: Pace,
    /// The ids in flight.
    ids: RefCell<HashSet<i64>>,
    /// Wakes a record that waits for its id.
    freed: Notify,
}

impl Creator {
    /// Creates a `Creator` with nothing in flight.
    pub fn new(client: RetryingClient, pace: Pace) -> Self {
        let client = client.returning_rate_limited();
        Self { client, pace, ids: RefCell::default(), freed: Notify::new() }
    }

    /// Waits until no other record with the same id is in flight, and claims the id.
    /// [`Creator::create`] frees it. No later record is taken meanwhile. Never fails: the return
    /// type is the item type of the stream.
    pub async fn claim_id(&self, record: Record) -> io::Result<Record> {
        loop {
            let freed = self.freed.notified();
            let id = record.plant.as_ref().ok().map(|plant| plant.id);
            if id.is_none_or(|id| self.ids.borrow_mut().insert(id)) {
                return Ok(record);
            }
            freed.await;
        }
    }

    /// Creates the plant of a record, and frees the id, so that the next record with it can start.
    pub async fn create(&self, record: io::Result<Record>) -> io::Result<Finished> {
        let record = record?;
        let outcome = match &record.plant {
            Ok(plant) => {
                let outcome = self.create_within_rate(plant).await;
                self.ids.borrow_mut().remove(&plant.id);
                self.freed.notify_waiters();
                outcome
            }
            Err(InvalidRecord { message, .. }) => {
                refused(ErrorCode::BadRequest.number(), message.clone())
            }
        };
        Ok(Finished { record, outcome })
    }

    /// Creates a plant at the pace of the import. A refusal with 429 does not count as a try: the
    /// plant waits for another turn.
    async fn create_within_rate(&self, plant: &NewPlant) -> Outcome {
        loop {
            let sent = self.pace.wait_for_turn().await;
            let outcome = self.send(plant).await;
            match &outcome {
                Outcome::GivenUp(failure) if failure.is_rate_limited() => {
                    let retry_after = failure.retry_after().unwrap_or(Duration::from_secs(1));
                    self.pace.slow_down(sent, retry_after);
                    sleep(retry_after).await;
                }
                _ => {
                    self.pace.speed_up();
                    return outcome;
                }
            }
        }
    }

    async fn send(&self, plant: &NewPlant) -> Outcome {
        let result = self.client.create_plant().body(plant.clone()).send().await;
        let Err(failure) = result.map_err(Failure::from) else { return Outcome::Created };
        match (failure.refusal(), failure.status()) {
            _ if failure.is_retryable() => Outcome::GivenUp(failure),
            (Some(refusal), _) if !failure.is_unauthorized() => Outcome::Refused(refusal.clone()),
            // A proxy refused this body, but may let others pass.
            (None, Some(status @ (400 | 413))) => refused(status.into(), failure.to_string()),
            _ => Outcome::Fatal(failure),
        }
    }
}

fn refused(error: i32, message: String) -> Outcome {
    Outcome::Refused(types::Error { error, message })
}
