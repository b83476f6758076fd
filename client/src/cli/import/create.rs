//! Creates the plant of a line: when its turn comes, and until there is an answer.

use std::collections::hash_map::Entry;
use std::time::Duration;

use anyhow::anyhow;
use backon::Retryable;
use tokio::sync::oneshot;
use tokio::time::sleep;

use super::{Import, Line, Outcome, Phase};
use crate::cli::contract::parse;
use crate::cli::say;
use crate::types::NewPlant;
use crate::{ErrorCode, Failure};

/// A line in flight.
pub struct Latest {
    number: u64,
    turn_ends: oneshot::Receiver<()>,
}

impl Import<'_> {
    /// Creates the plant of a line. The calls of this function are in the order of the file.
    pub fn create(&self, line: Line) -> impl Future<Output = (Line, Outcome)> {
        let plant = match &line.text {
            Some(text) => parse::<NewPlant>(text, self.arguments.ignore_unknown),
            None => Err(anyhow!("the line is longer than 1 MiB, and is not repeated here")),
        };
        // Dropping the sender ends the turn of this line.
        let (turn, turn_ends) = oneshot::channel::<()>();
        let previous = plant.as_ref().ok().and_then(|plant| {
            let latest = Latest { number: line.number, turn_ends };
            self.latest.borrow_mut().insert(plant.id, latest)
        });
        async move {
            let plant = match plant {
                Ok(plant) => plant,
                Err(error) => {
                    let reason = error.to_string().replace(" at line 1 column ", " at column ");
                    return (line, Outcome::Rejected(reason));
                }
            };
            let outcome = tokio::select! {
                biased;
                () = self.reaches(Phase::Over) => {
                    Outcome::Unanswered("the import ended before the service answered".to_owned())
                }
                outcome = async {
                    if let Some(previous) = previous {
                        let _ = previous.turn_ends.await;
                    }
                    self.send(line.number, &plant).await
                } => outcome,
            };
            drop(turn);
            if let Entry::Occupied(latest) = self.latest.borrow_mut().entry(plant.id)
                && latest.get().number == line.number
            {
                latest.remove();
            }
            (line, outcome)
        }
    }

    /// Sends a plant until there is an answer that is not worth another try.
    async fn send(&self, number: u64, plant: &NewPlant) -> Outcome {
        self.first_sent.notify_one();
        let attempt = || async {
            let sent = self.client.create_plant().body(plant.clone()).send().await;
            sent.map(drop).map_err(Failure::from)
        };
        loop {
            let result = attempt
                .retry(self.retries)
                .when(|failure| failure.is_retryable() && !is_rate_limited(failure))
                .adjust(|failure, backoff| Some(failure.pause(backoff?)))
                .notify(|failure, _| self.note(number, failure))
                .await;
            match result {
                Err(failure) if is_rate_limited(&failure) => {
                    self.note(number, &failure);
                    sleep(failure.pause(Duration::ZERO).max(Duration::from_secs(1))).await;
                }
                result => return self.outcome(result),
            }
        }
    }

    fn outcome(&self, result: Result<(), Failure>) -> Outcome {
        let failure = match result {
            Ok(()) => return self.answered(Outcome::Created),
            Err(failure) => failure,
        };
        let reason = failure.to_string();
        if failure.code() == Some(ErrorCode::Unauthorized) {
            self.end_early(Phase::Over, anyhow!("{reason}"));
        } else if failure.code().is_some() && !failure.is_retryable() {
            return self.answered(Outcome::Rejected(reason));
        } else if !failure.is_retryable() && !self.is_answered.get() {
            self.end_early(Phase::Over, anyhow!("{reason}"));
        } else {
            self.unanswered_in_a_row.update(|creates| creates.saturating_add(1));
            if self.unanswered_in_a_row.get() == self.arguments.in_flight {
                let reason = anyhow!("the service no longer creates plants: {reason}");
                self.end_early(Phase::Ending, reason);
            }
        }
        Outcome::Unanswered(reason)
    }

    fn answered(&self, outcome: Outcome) -> Outcome {
        self.is_answered.set(true);
        self.unanswered_in_a_row.set(0);
        outcome
    }

    /// Reports the first failure at once, because the retries may take a minute.
    fn note(&self, number: u64, failure: &Failure) {
        if failure.code().is_some() {
            self.is_answered.set(true);
        }
        let reason = failure.to_string();
        if self.last_failure.borrow().is_none() {
            let line = self.reason(number, &format!("{reason}; retrying"));
            self.bar.suspend(|| say(&line));
        }
        self.last_failure.replace(Some(reason));
    }
}

fn is_rate_limited(failure: &Failure) -> bool {
    match failure {
        Failure::Unexpected { status, .. } => *status == 429,
        failure => failure.code() == Some(ErrorCode::TooManyRequests),
    }
}
