//! The creates of an import. Two records with one id are never under way at once, so the first of
//! them is created, in every run.

use std::cell::RefCell;
use std::collections::HashSet;
use std::io;

use bytes::Bytes;
use tokio::sync::Notify;

use super::pace::Pace;
use super::progress::Progress;
use super::record::{Record, refusal};
use super::report::{Judged, Outcome};
use crate::cli::body::{InvalidBody, check};
use crate::cli::create::create;
use crate::failure::{error_code, retry_after};
use crate::types::{NewPlant, Plant};
use crate::{Answer, Client, ErrorCode, RetryingClient};

/// The creates of an import.
pub struct Creates<'a> {
    /// None in a dry run.
    client: Option<RetryingClient>,
    progress: &'a Progress,
    /// Whether a record with a member that the contract does not have is sent.
    ignores_unknown: bool,
    /// The ids under way, and how a record that waits for one of them learns of its end.
    ids: RefCell<HashSet<i64>>,
    freed: Notify,
    pace: Pace,
}

impl<'a> Creates<'a> {
    /// Nothing is under way yet.
    pub fn new(
        client: Option<RetryingClient>,
        progress: &'a Progress,
        ignores_unknown: bool,
    ) -> Self {
        Self {
            client,
            progress,
            ignores_unknown,
            ids: RefCell::default(),
            freed: Notify::new(),
            pace: Pace::new(),
        }
    }

    /// Claims the id of the record, once no other with it is under way; [`Creates::create`] frees
    /// it. Meanwhile no later record is taken. It never fails: the type is that of the stream.
    pub async fn claim_id(&self, record: Record) -> io::Result<Record> {
        loop {
            let freed = self.freed.notified();
            if record.id.is_none_or(|id| self.ids.borrow_mut().insert(id)) {
                return Ok(record);
            }
            freed.await;
        }
    }

    /// Creates a record, and frees its id: the next one with it begins.
    pub async fn create(&self, record: io::Result<Record>) -> io::Result<Judged> {
        let record = record?;
        self.progress.begin();
        let outcome = match &record.body {
            Ok(body) => self.judged(body).await,
            Err(refused) => Outcome::Refused(refused.clone()),
        };
        if let Some(id) = record.id {
            self.ids.borrow_mut().remove(&id);
            self.freed.notify_waiters();
        }
        self.progress.end(record.text.len() as u64 + 1);
        Ok(Judged { record, outcome })
    }

    /// What the service would ignore is refused here. All else the service judges, and a dry run
    /// says in advance what it will say.
    async fn judged(&self, body: &Bytes) -> Outcome {
        if let Err(error) = check::<NewPlant>(body, self.ignores_unknown)
            && (self.client.is_none() || is_unknown(&error))
        {
            return Outcome::Refused(refusal(ErrorCode::BadRequest, error.to_string()));
        }
        match &self.client {
            Some(client) => self.sent(client, body).await,
            None => Outcome::Accepted,
        }
    }

    async fn sent(&self, client: &RetryingClient, body: &Bytes) -> Outcome {
        let answer = client.repeat(|client| self.paced(client, body)).await;
        let Err(failure) = answer else { return Outcome::Accepted };
        if failure.is_retryable() {
            return Outcome::GivenUp(failure);
        }
        match failure.refusal() {
            Some(refused) if !failure.is_unauthorized() => Outcome::Refused(refused.clone()),
            _ => Outcome::Hopeless(failure),
        }
    }

    /// Sends a create until it is not past the rate of the token: a 429 is no try.
    async fn paced(&self, client: Client, body: &Bytes) -> Answer<Plant> {
        loop {
            let sent = self.pace.turn().await;
            let answer = create(client.clone(), body.clone()).await;
            match &answer {
                Err(error) if error_code(error) == Some(ErrorCode::TooManyRequests) => {
                    if self.pace.slow_down(sent, retry_after(error)) {
                        self.progress.say_past_rate();
                    }
                }
                _ => {
                    self.pace.answered();
                    return answer;
                }
            }
        }
    }
}

fn is_unknown(error: &InvalidBody) -> bool {
    matches!(error, InvalidBody::Unknown { .. })
}
