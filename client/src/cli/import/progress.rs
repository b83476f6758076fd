//! The bar that a terminal shows during an import.

use std::cell::Cell;

use indicatif::{ProgressBar, ProgressStyle};

/// The bar. The number of all plants is an estimate: those so far, and as many more as the rest of
/// the file has room for.
pub struct Progress {
    bar: ProgressBar,
    /// Of the file, if that is known.
    size: Option<u64>,
    bytes: Cell<u64>,
}

impl Progress {
    /// `size` is that of the file in bytes.
    pub fn new(size: Option<u64>) -> Self {
        let template = match size {
            Some(_) => "{bar:40} {human_pos}/{human_len} plants, {per_sec:0}, {eta} left",
            None => "{spinner} {human_pos} plants, {per_sec:0}",
        };
        let style = ProgressStyle::with_template(template).expect("the template is one");
        // indicatif draws it only if standard error is a terminal.
        let bar = ProgressBar::no_length().with_style(style);
        Self { bar, size, bytes: Cell::new(0) }
    }

    /// A record of so many bytes is done, whatever its outcome.
    pub fn add(&self, bytes: u64) {
        self.bytes.update(|so_far| so_far + bytes);
        self.bar.inc(1);
        if let Some(size) = self.size.filter(|_| !self.bar.is_hidden()) {
            let (done, bytes) = (self.bar.position(), self.bytes.get().max(1));
            self.bar.set_length(done + size.saturating_sub(bytes) / bytes.div_ceil(done));
        }
    }

    /// Removes the bar from the terminal.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}
