//! The plants of a store, page by page, with the proof that no plant was left out.

use std::io::{self, IsTerminal, Write};

use anyhow::{Result, ensure};
use plant_store_store::{Engine, PAGE_ROWS, Row};

/// The store does not return what it counts.
#[derive(Debug, thiserror::Error)]
pub enum Incomplete {
    /// The pages would never end, or skip plants.
    #[error("the plants of the store are not in the order of their ids, after the id {after:?}")]
    OutOfOrder { after: Option<i64> },
    /// Some pages were skipped, or read twice.
    #[error("{read} plants were read, and the store counts {least} to {most}")]
    WrongCount { read: u64, least: u64, most: u64 },
}

/// Reads every plant of the store in the order of the ids, in constant memory, and returns how many
/// there were. On a terminal it shows its progress.
///
/// # Errors
///
/// [`Incomplete`] if `take` may not have got every plant: the ids do not ascend, or there were fewer
/// plants than the store counted before the first page, or more than after the last one.
pub fn for_each_page(
    store: &dyn Engine,
    mut take: impl FnMut(&[Row]) -> Result<()>,
) -> Result<u64> {
    let shows_progress = io::stderr().is_terminal();
    let least = store.count()?;
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
        take(&page)?;
        read += page.len() as u64;
        if shows_progress {
            // The cursor goes back, so that the next line writes over this one.
            let _ = write!(io::stderr(), "{read} of {least} plants\r");
        }
    }
    let most = store.count()?;
    ensure!((least..=most).contains(&read), Incomplete::WrongCount { read, least, most });
    Ok(read)
}
