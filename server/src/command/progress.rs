//! The bar that a terminal shows while plants are read.

use std::io::{self, IsTerminal};

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};

use crate::store::Contents;

/// A bar that is full when all plants of the store are read. Counting them reads the whole store, so
/// they are counted only if standard error is a terminal.
pub fn of_plants(store: &dyn Contents) -> Result<ProgressBar> {
    if !io::stderr().is_terminal() {
        return Ok(ProgressBar::hidden());
    }
    let style =
        ProgressStyle::with_template("{msg}{bar:40} {human_pos}/{human_len} plants, {eta} left")?;
    Ok(ProgressBar::new(store.count()?).with_style(style))
}
