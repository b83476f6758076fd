//! What became of the records of an import: counted, and, if a record was not created, written to
//! stdout as a line of JSON.

use std::io::{self, IsTerminal};
use std::pin::pin;

use anyhow::{Context, Result, bail, ensure};
use futures::{Stream, StreamExt};
use serde::Serialize;
use serde_json::json;
use tokio::io::{AsyncWriteExt, Stdout};
use tokio::sync::Notify;

use super::creates::{Done, Outcome};
use super::progress::Progress;
use super::record::Record;
use crate::cli::output::{Unprinted, json_line, say, shown, write};

/// How many plants had which outcome.
#[derive(Default, Serialize)]
pub struct Summary {
    pub created_or_already_there: u64,
    pub refused: u64,
    pub given_up: u64,
    /// The cause of the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    given_up_because: Option<String>,
    /// How many creates were past the rate of the token, and were sent again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub past_rate: Option<u64>,
    /// Whether the file was read to its end, and each of its records is counted.
    pub complete: bool,
}

impl Summary {
    /// Prints the summary to stderr.
    pub fn print(&self) {
        say(&shown(self, io::stderr().is_terminal()));
        if let Some(creates) = self.past_rate {
            say(&format!(
                "plants: {creates} creates were past the rate of the token, and were sent again: a \
                 --rate of nine tenths of the server's --max-rate avoids that"
            ));
        }
    }
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
    pub stdout: Stdout,
}

impl Report<'_> {
    /// Adds every record. An error among the records says why the file cannot be read on. Fails
    /// with the first reason why the import cannot go on, and notifies `failed` of it at once.
    pub async fn add_all(
        &mut self,
        records: impl Stream<Item = io::Result<Done>>,
        failed: &Notify,
    ) -> Result<()> {
        let mut records = pin!(records);
        let mut result = Ok(());
        while let Some(done) = records.next().await {
            if let Err(error) = self.add(done).await {
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
        Ok(self.stdout.flush().await.map_err(Unprinted)?)
    }

    /// Fails if every other record would fail too.
    async fn add(&mut self, done: io::Result<Done>) -> Result<()> {
        let Done { record, outcome } = done.context("cannot read on")?;
        self.progress.end();
        let in_a_row = std::mem::take(&mut self.in_a_row);
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

    /// Writes the line of a record that was not created.
    async fn reject(&mut self, record: &Record, error: Option<i32>, message: &str) -> Result<()> {
        let (name, content) = record.content();
        let mut rejected = json!({ "line": record.line, "message": message, name: content });
        if let Some(error) = error {
            rejected["error"] = error.into();
        }
        let line = json_line(&rejected);
        if io::stdout().is_terminal() {
            // Else the bar would be drawn into the line.
            return self.progress.bar.suspend(|| write(line.as_bytes()));
        }
        // Not in this thread: a pipe that nobody reads would keep it from signals.
        Ok(self.stdout.write_all(line.as_bytes()).await.map_err(Unprinted)?)
    }
}
