//! What an import shows while it goes on: on a terminal a bar and what it waits for, elsewhere a
//! line about a wait that takes long.

use std::cell::Cell;
use std::convert::Infallible;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use tokio::time::{Instant, interval_at};

use crate::Try;
use crate::causes::in_one_line;
use crate::cli::output::say;

/// When a wait is first said without a terminal, and how often it is repeated.
const FIRST: Duration = Duration::from_secs(5);
const EVERY: Duration = Duration::from_secs(10);

/// The bar. Its message is what the import waits for. The number of all plants is an estimate:
/// those so far, and as many more as the rest of the file may hold.
pub struct Progress {
    bar: ProgressBar,
    /// Where the service is.
    url: String,
    /// Of the file, if that is known.
    size: Option<u64>,
    bytes: Cell<u64>,
    under_way: Cell<u64>,
}

impl Progress {
    /// `size` is that of the file in bytes.
    pub fn new(url: &str, size: Option<u64>) -> Self {
        let template = match size {
            Some(_) => "{bar:40} {human_pos}/~{human_len} plants, {per_sec:0}, ~{eta} left\n{msg}",
            None => "{spinner} {human_pos} plants, {per_sec:0}\n{msg}",
        };
        let style = ProgressStyle::with_template(template).expect("the template is one");
        // indicatif draws it only if standard error is a terminal.
        let bar = ProgressBar::no_length().with_style(style);
        Self { bar, url: url.to_owned(), size, bytes: Cell::new(0), under_way: Cell::new(0) }
    }

    /// A hook that shows why a create is repeated, of at most `most` tries.
    pub fn retry_hook(&self, most: u32) -> impl Fn(&Try<'_>) + Send + Sync + 'static {
        let bar = self.bar.clone();
        let url = self.url.clone();
        move |Try { number, failure, pause, .. }| {
            if let (Some(failure), Some(_)) = (failure, pause) {
                wait(&bar, &url, &format!("{}, try {number} of {most}", failure.root_cause()));
            }
        }
    }

    /// Shows and says what is waited for, without end.
    pub async fn show_waits(&self) -> Infallible {
        let mut ticks = interval_at(Instant::now() + FIRST, EVERY);
        let mut done = 0;
        loop {
            ticks.tick().await;
            if self.bar.message().is_empty()
                && self.under_way.get() > 0
                && done == self.bar.position()
            {
                wait(&self.bar, &self.url, "no answer yet");
            }
            done = self.bar.position();
            if self.bar.is_hidden() && !self.bar.message().is_empty() {
                say(&format!("plants: {}", self.bar.message()));
            }
        }
    }

    /// A record is under way.
    pub fn begin(&self) {
        self.under_way.update(|records| records + 1);
    }

    /// A record of this many bytes is done, whatever its outcome.
    pub fn end(&self, bytes: u64) {
        self.under_way.update(|records| records - 1);
        self.bytes.update(|so_far| so_far + bytes);
        if !self.bar.message().is_empty() {
            self.bar.set_message("");
        }
        self.bar.inc(1);
        if let Some(size) = self.size.filter(|_| !self.bar.is_hidden()) {
            let done = self.bar.position();
            let bytes = self.bytes.get().max(1);
            self.bar.set_length(done + size.saturating_sub(bytes) / bytes.div_ceil(done));
        }
    }

    /// Says that a create was past the rate of the token: from now on they are sent at that rate.
    pub fn say_past_rate(&self) {
        self.beside(|| {
            say("plants: the token may send no more creates per second (429): sending more slowly");
        });
    }

    /// Writes to standard error, beside the bar.
    pub fn beside<T>(&self, write: impl FnOnce() -> T) -> T {
        self.bar.suspend(write)
    }

    /// Removes the bar from the terminal.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

/// The cause is in part what the server has written.
fn wait(bar: &ProgressBar, url: &str, cause: &str) {
    bar.set_message(in_one_line(&format!("waiting for {url}: {cause}")));
}
