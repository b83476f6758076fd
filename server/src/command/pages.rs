//! Every plant of a store, page by page. A terminal shows how many there were so far. They are not
//! counted before, because that reads the whole store.

use std::io::{self, IsTerminal};
use std::time::Duration;

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};

use crate::store::{Engine, Row};

/// Reads the plants in the order of their ids, in constant memory.
pub fn for_each_page(store: &dyn Engine, mut take: impl FnMut(&[Row]) -> Result<()>) -> Result<()> {
    let bar = progress();
    let mut last = None;
    loop {
        let page = store.page(last)?;
        let Some(row) = page.last() else { break };
        last = Some(row.id);
        take(&page)?;
        bar.inc(page.len() as u64);
    }
    bar.finish_and_clear();
    Ok(())
}

fn progress() -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{spinner} {human_pos} plants, {per_sec}")
        .expect("the template is one");
    let bar = ProgressBar::new_spinner().with_style(style);
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}
