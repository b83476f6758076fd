//! The bar that a terminal shows during an import.

use std::fmt::Write;
use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use indicatif::{HumanCount, ProgressBar, ProgressState, ProgressStyle};

use super::source::Record;

/// The bar: as long as the file, where its size is known.
pub struct Progress {
    bar: ProgressBar,
    plants: Arc<AtomicU64>,
}

impl Progress {
    /// `size` is that of the file in bytes.
    pub fn new(size: Option<u64>) -> Self {
        let plants = Arc::new(AtomicU64::new(0));
        if !io::stderr().is_terminal() {
            return Self { bar: ProgressBar::hidden(), plants };
        }
        let (bar, template) = match size {
            Some(size) => (ProgressBar::new(size), "{bar:40} {plants}, {eta} left"),
            None => (ProgressBar::new_spinner(), "{spinner} {plants}"),
        };
        let count = plants.clone();
        let style = ProgressStyle::with_template(template).expect("the template is one").with_key(
            "plants",
            move |state: &ProgressState, text: &mut dyn Write| {
                let count = count.load(Ordering::Relaxed);
                let millis = u64::try_from(state.elapsed().as_millis()).unwrap_or(u64::MAX);
                let rate = count.saturating_mul(1000) / millis.max(1);
                let _ = write!(text, "{} plants, {}/s", HumanCount(count), HumanCount(rate));
            },
        );
        Self { bar: bar.with_style(style), plants }
    }

    /// A record is done, whatever its outcome.
    pub fn add(&self, record: &Record) {
        self.plants.fetch_add(1, Ordering::Relaxed);
        self.bar.inc(record.bytes);
    }

    /// Removes the bar from the terminal.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}
