//! What can be read of a damaged store: the plants before and behind each damaged page.

use std::fmt;
use std::ops::RangeInclusive;
use std::path::Path;

use anyhow::{Error, Result, anyhow};
use plant_store_store::{self as store, Engine, PAGE_ROWS, Reason, Row, StoreUrl};

use crate::command::check::is_plant;

/// The ids whose plants cannot be read.
#[derive(Default)]
pub struct Unreadable(Vec<RangeInclusive<i64>>);

impl Unreadable {
    /// Whether every plant was read.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ranges = self.0.iter().map(|ids| match (*ids.start(), *ids.end()) {
            (first, last) if first == last => format!("{first}"),
            (i64::MIN, last) => format!("up to {last}"),
            (first, i64::MAX) => format!("from {first} on"),
            (first, last) => format!("{first} to {last}"),
        });
        match self.0.as_slice() {
            [] => f.write_str("no plant"),
            [all] if *all == (i64::MIN..=i64::MAX) => f.write_str("all plants"),
            _ => write!(f, "the plants with the ids {}", ranges.collect::<Vec<_>>().join(", ")),
        }
    }
}

/// Opens a store of which perhaps not all can be read.
pub fn open_damaged(url: &StoreUrl, ca: Option<&Path>) -> Result<Box<dyn Engine>> {
    store::open_damaged(url, ca).map_err(|error| match error.reason() {
        Reason::Damaged | Reason::NotAStore => nothing_of(url, &error.into()),
        _ => error.into(),
    })
}

/// What is said if nothing can be read. No other command reads more.
pub fn nothing_of(url: &StoreUrl, cause: &Error) -> Error {
    anyhow!(
        "nothing of {url} can be read ({cause:#}): run `plant-store restore BACKUP --store {url} \
         --tokens backup`"
    )
}

/// Reads every plant that can be read, in the order of the ids. If two damaged pages are near each
/// other, sound ones between them may be missing too.
pub fn salvage(
    store: &dyn Engine,
    mut take: impl FnMut(&[Row]) -> Result<()>,
) -> Result<Unreadable> {
    let mut unread = Unreadable::default();
    let mut after = None;
    let mut limit = PAGE_ROWS;
    loop {
        match store.page(after, limit) {
            Ok(mut page) => {
                let (Some(row), Some(last_row)) = (page.first(), page.last()) else {
                    return Ok(unread);
                };
                // What is between the damage and the next plant may be lost too.
                if let Some(damage) = unread.0.last_mut().filter(|ids| Some(*ids.end()) == after) {
                    *damage = *damage.start()..=row.id - 1;
                }
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
