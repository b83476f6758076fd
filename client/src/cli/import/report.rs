//! Counts the outcomes of an import, and writes each record that was not created to stdout as a
//! line of JSON.

use std::io::{self, IsTerminal};
use std::pin::pin;

use anyhow::{Context, Result, bail, ensure};
use futures::{Stream, StreamExt};
use serde::Serialize;
use serde_json::json;
use tokio::io::{AsyncWriteExt, Stdout};
use tokio::sync::Notify;

use super::creates::{Finished, Outcome};
use super::progress::Progress;
use super::record::Record;
use crate::cli::output::{StdoutError, json_line, print_to_stderr, render, write};

/// The number of plants with each outcome.
#[derive(Default, Serialize)]
pub struct Summary {
    pub created_or_already_there: u64,
    pub refused: u64,
    pub given_up: u64,
    /// Why the last of them was given up.
    #[serde(skip_serializing_if = "Option::is_none")]
    given_up_because: Option<String>,
    /// How many creates were over the token's rate limit, and were sent again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub past_rate: Option<u64>,
    /// Whether the file was read to its end and every record is counted.
    pub complete: bool,
}

impl Summary {
    /// Prints the summary to stderr.
    pub fn print(&self) {
        print_to_stderr(&render(self, io::stderr().is_terminal()));
        if let Some(creates) = self.past_rate {
            print_to_stderr(&format!(
                "plants: {creates} creates were over the token's rate limit and were sent again: \
                 set --rate to nine tenths of the server's --max-rate to avoid this"
            ));
        }
    }
}

/// Reports the outcomes of the records, in the order of the file.
pub struct Report<'a> {
    pub progress: &'a Progress,
    pub in_flight: usize,
    /// The flag or variable that the token came from.
    pub token_source: String,
    /// How many plants in a row were given up.
    pub given_up_in_a_row: usize,
    pub summary: Summary,
    pub stdout: Stdout,
}

impl Report<'_> {
    /// Reports every record. An error among the records means that the rest of the file cannot be
    /// read. Fails with the first error that ends the import, and notifies `failed` of it at once.
    pub async fn add_all(
        &mut self,
        records: impl Stream<Item = io::Result<Finished>>,
        failed: &Notify,
    ) -> Result<()> {
        let mut records = pin!(records);
        let mut result = Ok(());
        while let Some(finished) = records.next().await {
            if let Err(error) = self.add(finished).await {
                failed.notify_one();
                result = result.and(Err(error));
            }
        }
        result = result.and(self.flush().await);
        self.summary.complete = result.is_ok();
        result
    }

    /// Waits until all lines are written.
    pub async fn flush(&mut self) -> Result<()> {
        Ok(self.stdout.flush().await.map_err(StdoutError)?)
    }

    /// Reports a record. Fails if every other record would fail too.
    async fn add(&mut self, finished: io::Result<Finished>) -> Result<()> {
        let Finished { record, outcome } = finished.context("cannot read the rest of the file")?;
        self.progress.finish_record();
        let given_up_in_a_row = std::mem::take(&mut self.given_up_in_a_row);
        match outcome {
            Outcome::Created => self.summary.created_or_already_there += 1,
            Outcome::Refused(refused) => {
                self.summary.refused += 1;
                self.reject(&record, Some(refused.error), &refused.message).await?;
            }
            Outcome::GivenUp(failure) => {
                self.summary.given_up += 1;
                self.summary.given_up_because = Some(failure.to_string());
                let error = failure.refusal().map(|refused| refused.error);
                self.reject(&record, error, &failure.to_string()).await?;
                self.given_up_in_a_row = given_up_in_a_row + 1;
                // If as many creates in a row fail as are in flight, the others would fail too.
                let may_continue = self.given_up_in_a_row < self.in_flight;
                ensure!(may_continue, "the service no longer creates plants: {failure}");
            }
            Outcome::Fatal(failure) if failure.is_unauthorized() => {
                bail!("{failure}; the token came from {}", self.token_source)
            }
            Outcome::Fatal(failure) => return Err(failure.into()),
        }
        Ok(())
    }

    /// Writes the line of JSON for a record that was not created.
    async fn reject(&mut self, record: &Record, error: Option<i32>, message: &str) -> Result<()> {
        let (name, content) = record.content();
        let mut rejected = json!({ "line": record.line, "message": message, name: content });
        if let Some(error) = error {
            rejected["error"] = error.into();
        }
        let line = json_line(&rejected);
        if io::stdout().is_terminal() {
            // Hide the bar, which would otherwise be drawn into the line.
            return self.progress.bar.suspend(|| write(line.as_bytes()));
        }
        // Write on another thread: a full pipe would block the handling of signals.
        Ok(self.stdout.write_all(line.as_bytes()).await.map_err(StdoutError)?)
    }
}
