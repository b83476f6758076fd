//! Reads all plants of a store, page by page, and proves that no plant was skipped.

use std::io::{self, IsTerminal, Write};

use anyhow::{Result, ensure};
use plant_store_store::{Engine, PAGE_ROWS, Row};

/// The pages of a store do not match its count.
#[derive(Debug, thiserror::Error)]
pub enum Incomplete {
    /// Reading would never end, or would skip plants.
    #[error("the plants of the store are not ordered by id, after the id {after:?}")]
    OutOfOrder { after: Option<i64> },
    /// Some pages were skipped or read twice.
    #[error("{read} plants were read, but the store counts {min} to {max}")]
    WrongCount { read: u64, min: u64, max: u64 },
}

/// Reads every plant of the store in constant memory, ordered by id, and passes each page to
/// `visit`. Returns the number of plants. Shows the progress if stderr is a terminal.
///
/// # Errors
///
/// [`Incomplete`] if `visit` may have missed a plant: the ids do not ascend, fewer plants were read
/// than the store counted before the first page, or more than it counted after the last page.
pub fn for_each_page(
    store: &dyn Engine,
    mut visit: impl FnMut(&[Row]) -> Result<()>,
) -> Result<u64> {
    let shows_progress = io::stderr().is_terminal();
    let min = store.count()?;
    let mut read = 0;
    let mut after = None;
    loop {
        let page = store.page(after, PAGE_ROWS)?;
        let Some(last_row) = page.last() else { break };
        let ascends = page.is_sorted_by(|one, next| one.id < next.id);
        ensure!(
            ascends && after.is_none_or(|id| id < page[0].id),
            Incomplete::OutOfOrder { after }
        );
        after = Some(last_row.id);
        visit(&page)?;
        read += page.len() as u64;
        if shows_progress {
            // The carriage return lets the next line overwrite this one.
            let _ = write!(io::stderr(), "{read} of {min} plants\r");
        }
    }
    let max = store.count()?;
    ensure!((min..=max).contains(&read), Incomplete::WrongCount { read, min, max });
    Ok(read)
}
