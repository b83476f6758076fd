//! The creates of an import. Two records with one id are never under way at once, so the first of
//! them is created, in every run.

use std::cell::RefCell;
use std::collections::HashSet;
use std::io;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::sleep;

use super::pace::Pace;
use super::record::{NoPlant, Record};
use crate::types::{self, NewPlant};
use crate::{ErrorCode, Failure, RetryingClient};

/// What became of a record.
pub enum Outcome {
    /// It was created, or was already there.
    Created,
    Refused(types::Error),
    /// After the last try.
    GivenUp(Failure),
    /// Every other one would fail, too.
    Hopeless(Failure),
}

/// A record that is done.
pub struct Done {
    pub record: Record,
    pub outcome: Outcome,
}

/// The creates of an import.
pub struct Creates {
    client: RetryingClient,
    pub pace: Pace,
    /// The ids under way, and how a record that waits for one of them learns of its end.
    ids: RefCell<HashSet<i64>>,
    freed: Notify,
}

impl Creates {
    /// Nothing is under way yet.
    pub fn new(client: RetryingClient, pace: Pace) -> Self {
        let client = client.returning_past_rate();
        Self { client, pace, ids: RefCell::default(), freed: Notify::new() }
    }

    /// Claims the id of the record, once no other with it is under way; [`Creates::create`] frees
    /// it. Meanwhile no later record is taken. It never fails: the type is that of the stream.
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

    /// Creates a record, and frees its id: the next one with it begins.
    pub async fn create(&self, record: io::Result<Record>) -> io::Result<Done> {
        let record = record?;
        let outcome = match &record.plant {
            Ok(plant) => {
                let outcome = self.created(plant).await;
                self.ids.borrow_mut().remove(&plant.id);
                self.freed.notify_waiters();
                outcome
            }
            Err(NoPlant { message, .. }) => {
                refused(ErrorCode::BadRequest.number(), message.clone())
            }
        };
        Ok(Done { record, outcome })
    }

    /// A refusal past the rate of the token is no try: the plant waits for another turn.
    async fn created(&self, plant: &NewPlant) -> Outcome {
        loop {
            let sent = self.pace.turn().await;
            let outcome = self.sent(plant).await;
            match &outcome {
                Outcome::GivenUp(failure) if failure.is_past_rate() => {
                    let retry_after = failure.retry_after().unwrap_or(Duration::from_secs(1));
                    self.pace.go_slower(sent, retry_after);
                    sleep(retry_after).await;
                }
                _ => {
                    self.pace.go_faster();
                    return outcome;
                }
            }
        }
    }

    async fn sent(&self, plant: &NewPlant) -> Outcome {
        let answer = self.client.create_plant().body(plant.clone()).send().await;
        let Err(failure) = answer.map_err(Failure::from) else { return Outcome::Created };
        match (failure.refusal(), failure.status()) {
            _ if failure.is_retryable() => Outcome::GivenUp(failure),
            (Some(refusal), _) if !failure.is_unauthorized() => Outcome::Refused(refusal.clone()),
            // A proxy does not take this body.
            (None, Some(status @ (400 | 413))) => refused(status.into(), failure.to_string()),
            _ => Outcome::Hopeless(failure),
        }
    }
}

fn refused(error: i32, message: String) -> Outcome {
    Outcome::Refused(types::Error { error, message })
}
