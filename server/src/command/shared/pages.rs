//! The plants of a store, page by page.

use std::io::{self, IsTerminal, Write};

use anyhow::Result;
use plant_store_store::{Engine, PAGE_ROWS, Row};

/// Reads the plants of the store in the order of their ids, in constant memory. A terminal shows
/// how many were read. They are not counted before, because that reads the whole store.
pub fn for_each_page(store: &dyn Engine, mut take: impl FnMut(&[Row]) -> Result<()>) -> Result<()> {
    let shows_progress = io::stderr().is_terminal();
    let mut plants = 0;
    let mut last_id = None;
    loop {
        let page = store.page(last_id, PAGE_ROWS)?;
        let Some(last_row) = page.last() else { return Ok(()) };
        last_id = Some(last_row.id);
        take(&page)?;
        plants += page.len();
        if shows_progress {
            // The cursor goes back, so that the next line writes over this one.
            let _ = write!(io::stderr(), "{plants} plants\r");
        }
    }
}
