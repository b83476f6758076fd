//! The progress of an import: on a terminal, a bar and what the import is waiting for; elsewhere, a
//! line every 30 seconds.

use std::cell::Cell;
use std::convert::Infallible;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use tokio::time::{Instant, interval_at};

use crate::Failure;
use crate::causes::escape_control;

/// How often a line is written without a terminal.
const INTERVAL: Duration = Duration::from_secs(30);

/// Tracks and shows the progress of an import.
pub struct Progress {
    /// The position in the file, in bytes. Its message is what the import is waiting for.
    pub bar: ProgressBar,
    /// How many records are finished, whatever their outcome.
    finished: Cell<u64>,
}

impl Progress {
    /// Creates the bar. `size` is the size of the file in bytes, if it is known.
    pub fn new(size: Option<u64>) -> Self {
        let template = match size {
            Some(_) => "{bar:40} {bytes}/{total_bytes}, {eta} left\n{wide_msg}",
            None => "{spinner} {bytes}, {bytes_per_sec}\n{wide_msg}",
        };
        let style = ProgressStyle::with_template(template).expect("the template is valid");
        // indicatif draws the bar only if stderr is a terminal.
        let bar = size.map_or_else(ProgressBar::no_length, ProgressBar::new).with_style(style);
        Self { bar, finished: Cell::new(0) }
    }

    /// Returns a hook that shows why a create is retried.
    pub fn before_retry(&self) -> impl Fn(&Failure, Duration) + Send + Sync + 'static {
        let bar = self.bar.clone();
        move |failure, pause| {
            bar.set_message(escape_control(&format!("retrying in {pause:.1?}: {failure}")));
        }
    }

    /// Counts a finished record.
    pub fn finish_record(&self) {
        self.finished.update(|records| records + 1);
        if !self.bar.message().is_empty() {
            self.bar.set_message("");
        }
    }

    /// Reports the progress at each interval if there is no bar. Never returns.
    pub async fn report(&self, print: impl Fn(&str)) -> Infallible {
        let mut ticks = interval_at(Instant::now() + INTERVAL, INTERVAL);
        loop {
            ticks.tick().await;
            if self.bar.is_hidden() {
                print(&self.line());
            }
        }
    }

    fn line(&self) -> String {
        let finished = self.finished.get();
        match self.bar.message() {
            message if message.is_empty() => format!("plants: {finished} processed so far"),
            message => format!("plants: {finished} processed so far; {message}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn import_without_a_terminal_logs_every_30_seconds() {
        let progress = Progress::new(None);
        let lines = RefCell::new(Vec::new());
        let report = progress.report(|line| lines.borrow_mut().push(line.to_owned()));
        let _ = tokio::time::timeout(Duration::from_secs(65), async {
            progress.finish_record();
            report.await
        })
        .await;
        assert_eq!(*lines.borrow(), ["plants: 1 processed so far", "plants: 1 processed so far"]);
        progress.bar.set_message("retrying in 1.0s: Connection refused");
        let expected = "plants: 1 processed so far; retrying in 1.0s: Connection refused";
        assert_eq!(progress.line(), expected);
    }
}
