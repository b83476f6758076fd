//! What became of the records of an import.

use std::io;
use std::pin::pin;

use anyhow::{Context, Result, bail, ensure};
use futures::{Stream, StreamExt};
use serde::Serialize;
use serde_json::json;
use tokio::sync::Notify;

use super::format::Format;
use super::progress::Progress;
use super::record::Record;
use super::rejected::Rejected;
use crate::{Failure, types};

/// How many plants had which outcome.
#[derive(Default, Serialize)]
pub struct Counts {
    pub created_or_already_there: u64,
    pub refused: u64,
    pub given_up: u64,
    /// The cause of the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    given_up_because: Option<String>,
}

/// What became of a record.
pub enum Outcome {
    /// It was created, or was already there. In a dry run: it looks like a plant.
    Accepted,
    Refused(types::Error),
    /// After the last try.
    GivenUp(Failure),
    /// Every other one would fail, too.
    Hopeless(Failure),
}

/// A record that is done.
pub struct Judged {
    pub record: Record,
    pub outcome: Outcome,
}

/// What became of the records, in the order of the file.
pub struct Report<'a> {
    pub progress: &'a Progress,
    pub in_flight: usize,
    /// Where the token is from.
    pub token: String,
    /// How many plants were given up since the last answer.
    pub in_a_row: usize,
    pub counts: Counts,
    pub rejected: Rejected,
    pub format: Format,
}

impl Report<'_> {
    /// Adds every record. One that is an error says why the file cannot be read on. Fails with the
    /// first reason why the import cannot go on, of which `failed` is told at once.
    pub async fn add_all(
        &mut self,
        records: impl Stream<Item = io::Result<Judged>>,
        failed: &Notify,
    ) -> Result<()> {
        let mut records = pin!(records);
        let mut result = Ok(());
        while let Some(judged) = records.next().await {
            if let Err(error) = self.add(judged) {
                failed.notify_one();
                result = result.and(Err(error));
            }
        }
        result
    }

    /// Fails if every other record would fail too.
    fn add(&mut self, judged: io::Result<Judged>) -> Result<()> {
        let Judged { record, outcome } = judged.context("cannot read on")?;
        let in_a_row = std::mem::take(&mut self.in_a_row);
        match outcome {
            Outcome::Accepted => self.counts.created_or_already_there += 1,
            Outcome::Refused(refused) => {
                self.counts.refused += 1;
                self.reject(record, Some(refused.error), &refused.message)?;
            }
            Outcome::GivenUp(failure) => {
                self.counts.given_up += 1;
                self.counts.given_up_because = Some(failure.root_cause());
                let error = failure.refusal().map(|refused| refused.error);
                self.reject(record, error, &failure.to_string())?;
                self.in_a_row = in_a_row + 1;
                // A service that fails as many in a row as are under way fails the others too.
                let goes_on = self.in_a_row < self.in_flight;
                ensure!(goes_on, "the service creates nothing any longer: {failure}");
            }
            Outcome::Hopeless(failure) if failure.refusal().is_some() => {
                bail!("{failure}; the token is that of {}", self.token)
            }
            Outcome::Hopeless(failure) => return Err(failure.into()),
        }
        Ok(())
    }

    fn reject(&mut self, mut record: Record, error: Option<i32>, message: &str) -> Result<()> {
        let message = in_the_file(message, record.line, self.format);
        let mut reason = json!({ "line": record.line, "message": message });
        if let Some(error) = error {
            reason["error"] = error.into();
        }
        let write = || self.rejected.write(&mut record, &reason);
        self.progress.beside(write).context("cannot write what was not created")
    }
}

/// The position of which the service writes in a body: it counts from the beginning of the body,
/// which is one line.
const IN_BODY: &str = " at line 1 column ";

/// A message of the service, with the position in the file instead of that in the body.
fn in_the_file(message: &str, line: u64, format: Format) -> String {
    match (format, message.rsplit_once(IN_BODY)) {
        (Format::Jsonl, _) => message.replace(IN_BODY, &format!(" at line {line} column ")),
        // The column is one of the JSON that this program made of the row: the file has none.
        (Format::Csv, Some((before, column))) => {
            let after = column.trim_start_matches(|letter: char| letter.is_ascii_digit());
            format!("{before} at line {line}{after}")
        }
        (Format::Csv, None) => message.to_owned(),
    }
}

#[cfg(test)]
mod tests;
