//! What an import shows while it goes on: on a terminal a bar and what it waits for, elsewhere a
//! line now and then.

use std::cell::Cell;
use std::convert::Infallible;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use tokio::time::{Instant, interval_at};

use crate::Failure;
use crate::causes::in_one_line;

/// How often a line is written without a terminal.
const EVERY: Duration = Duration::from_secs(30);

/// How far the import has come.
pub struct Progress {
    /// In bytes of the file. Its message is what the import waits for.
    pub bar: ProgressBar,
    /// How many records are done, whatever came of them.
    done: Cell<u64>,
}

impl Progress {
    /// `size` is that of the file in bytes, if it is known.
    pub fn new(size: Option<u64>) -> Self {
        let template = match size {
            Some(_) => "{bar:40} {bytes}/{total_bytes}, {eta} left\n{wide_msg}",
            None => "{spinner} {bytes}, {bytes_per_sec}\n{wide_msg}",
        };
        let style = ProgressStyle::with_template(template).expect("the template is one");
        // indicatif draws it only if standard error is a terminal.
        let bar = size.map_or_else(ProgressBar::no_length, ProgressBar::new).with_style(style);
        Self { bar, done: Cell::new(0) }
    }

    /// A hook that shows why a create is repeated.
    pub fn before_repeat(&self) -> impl Fn(&Failure, Duration) + Send + Sync + 'static {
        let bar = self.bar.clone();
        move |failure, pause| {
            bar.set_message(in_one_line(&format!("again in {pause:.1?}: {failure}")));
        }
    }

    /// A record is done.
    pub fn end(&self) {
        self.done.update(|records| records + 1);
        if !self.bar.message().is_empty() {
            self.bar.set_message("");
        }
    }

    /// Says how far the import has come, without end, if there is no bar.
    pub async fn say(&self, say: impl Fn(&str)) -> Infallible {
        let mut ticks = interval_at(Instant::now() + EVERY, EVERY);
        loop {
            ticks.tick().await;
            if self.bar.is_hidden() {
                say(&self.line());
            }
        }
    }

    fn line(&self) -> String {
        let done = self.done.get();
        match self.bar.message() {
            message if message.is_empty() => format!("plants: {done} done so far"),
            message => format!("plants: {done} done so far; {message}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn import_without_a_terminal_writes_a_line_each_30_seconds() {
        let progress = Progress::new(None);
        let lines = RefCell::new(Vec::new());
        let say = progress.say(|line| lines.borrow_mut().push(line.to_owned()));
        let _ = tokio::time::timeout(Duration::from_secs(65), async {
            progress.end();
            say.await
        })
        .await;
        assert_eq!(*lines.borrow(), ["plants: 1 done so far", "plants: 1 done so far"]);
        progress.bar.set_message("again in 1.0s: Connection refused");
        let expected = "plants: 1 done so far; again in 1.0s: Connection refused";
        assert_eq!(progress.line(), expected);
    }
}
