//! The bar that a terminal shows while plants are read.

use std::io::{self, IsTerminal};

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};

use crate::store::Contents;

/// A bar as long as the store has plants. To count them reads the whole store, so it is done only
/// where standard error is a terminal.
pub fn of_plants(store: &dyn Contents) -> Result<ProgressBar> {
    if !io::stderr().is_terminal() {
        return Ok(ProgressBar::hidden());
    }
    let style =
        ProgressStyle::with_template("{msg}{bar:40} {human_pos}/{human_len} plants, {eta} left")?;
    Ok(ProgressBar::new(store.count()?).with_style(style))
}
