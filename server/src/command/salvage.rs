//! What can be read of a damaged store: the plants before and behind each damaged page.

use std::fmt;
use std::ops::RangeInclusive;

use anyhow::Result;
use plant_store_store::{Engine, PAGE_ROWS, Row};

use crate::command::check::is_plant;

/// The ids whose plants cannot be read, if there are any.
#[derive(Default)]
pub struct Unread(Vec<RangeInclusive<i64>>);

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("no plant is missing");
        }
        let ranges = self.0.iter().map(|ids| match (ids.start(), ids.end()) {
            (first, last) if first == last => format!("{first}"),
            (first, last) => format!("{first} to {last}"),
        });
        write!(f, "missing are the plants with the ids {}", ranges.collect::<Vec<_>>().join(", "))
    }
}

/// Reads every plant that can be read, in the order of the ids. If two damaged pages are near each
/// other, sound ones between them may be missing too.
pub fn salvage(store: &dyn Engine, mut take: impl FnMut(&[Row]) -> Result<()>) -> Result<Unread> {
    let mut unread = Unread::default();
    let mut after = None;
    let mut limit = PAGE_ROWS;
    loop {
        match store.page(after, limit) {
            Ok(mut page) => {
                let Some(last_row) = page.last() else { return Ok(unread) };
                after = Some(last_row.id);
                // SQLite has no checksum: it reads some damaged pages as they are.
                let damaged = page.iter().filter(|row| !is_plant(row));
                unread.0.extend(damaged.map(|row| row.id..=row.id));
                page.retain(is_plant);
                take(&page)?;
                limit = (limit * 2).min(PAGE_ROWS);
            }
            // The rows before the damaged one can be read.
            Err(_) if limit > 1 => limit /= 2,
            Err(_) => {
                let last = last_unreadable(store, after);
                let first = after.map_or(i64::MIN, |id| id + 1);
                unread.0.push(first..=last);
                if last == i64::MAX {
                    return Ok(unread);
                }
                after = Some(last);
            }
        }
    }
}

/// The last id of the damage that begins behind `after`. SQLite finds an id without reading the
/// pages of those before it, so this looks for the nearest id behind which it can read.
fn last_unreadable(store: &dyn Engine, after: Option<i64>) -> i64 {
    let can_read_behind = |id: i64| id == i64::MAX || store.page(Some(id), 1).is_ok();
    let mut low = after.unwrap_or(i64::MIN);
    let mut step = 1;
    let mut high = low.saturating_add(step);
    while !can_read_behind(high) {
        low = high;
        step = step.saturating_mul(2);
        high = low.saturating_add(step);
    }
    // Behind `low` nothing can be read.
    while high.abs_diff(low) > 1 {
        let middle = low.midpoint(high);
        if can_read_behind(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}
