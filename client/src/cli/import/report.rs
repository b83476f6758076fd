//! What became of the records of an import.

use std::io;
use std::pin::pin;

use anyhow::{Context, Result, bail, ensure};
use futures::{Stream, StreamExt};
use serde::Serialize;
use serde_json::json;
use tokio::sync::Notify;

use super::creates::{Done, Outcome};
use super::progress::Progress;
use super::record::Record;
use super::rejected::Rejected;

/// How many plants had which outcome.
#[derive(Default, Serialize)]
pub struct Summary {
    pub created_or_already_there: u64,
    pub refused: u64,
    pub given_up: u64,
    /// The cause of the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    given_up_because: Option<String>,
    /// Whether the file was read to its end, and each of its records is counted.
    pub complete: bool,
}

/// What became of the records, in the order of the file.
pub struct Report<'a> {
    pub progress: &'a Progress,
    pub in_flight: usize,
    /// Where the token is from.
    pub token: String,
    /// How many plants were given up since the last answer.
    pub in_a_row: usize,
    pub summary: Summary,
    pub rejected: Rejected,
}

impl Report<'_> {
    /// Adds every record. One that is an error says why the file cannot be read on. Fails with the
    /// first reason why the import cannot go on, of which `failed` is told at once.
    pub async fn add_all(
        &mut self,
        records: impl Stream<Item = io::Result<Done>>,
        failed: &Notify,
    ) -> Result<()> {
        let mut records = pin!(records);
        let mut result = Ok(());
        while let Some(done) = records.next().await {
            if let Err(error) = self.add(done) {
                failed.notify_one();
                result = result.and(Err(error));
            }
        }
        self.summary.complete = result.is_ok();
        result
    }

    /// Fails if every other record would fail too.
    fn add(&mut self, done: io::Result<Done>) -> Result<()> {
        let Done { record, outcome } = done.context("cannot read on")?;
        self.progress.end();
        let in_a_row = std::mem::take(&mut self.in_a_row);
        match outcome {
            Outcome::Created => self.summary.created_or_already_there += 1,
            Outcome::Refused(refused) => {
                self.summary.refused += 1;
                self.reject(&record, Some(refused.error), &refused.message)?;
            }
            Outcome::GivenUp(failure) => {
                self.summary.given_up += 1;
                self.summary.given_up_because = Some(failure.to_string());
                let error = failure.refusal().map(|refused| refused.error);
                self.reject(&record, error, &failure.to_string())?;
                self.in_a_row = in_a_row + 1;
                // A service that fails as many in a row as are under way fails the others too.
                let goes_on = self.in_a_row < self.in_flight;
                ensure!(goes_on, "the service creates nothing any longer: {failure}");
            }
            Outcome::Hopeless(failure) if failure.is_unauthorized() => {
                bail!("{failure}; the token is that of {}", self.token)
            }
            Outcome::Hopeless(failure) => return Err(failure.into()),
        }
        Ok(())
    }

    fn reject(&mut self, record: &Record, error: Option<i32>, message: &str) -> Result<()> {
        let mut reason = json!({ "line": record.line, "message": message });
        if let Some(error) = error {
            reason["error"] = error.into();
        }
        self.rejected.write(&record.text, &reason).context("cannot write what was not created")
    }
}
