//! In which plants two stores differ.

use std::cmp::Ordering;
use std::vec;

use plant_store_store::{Engine, PAGE_ROWS, Row, StoreError};

/// In what a store differs from a backup.
#[derive(Clone, Copy, Debug, Default)]
pub struct Difference {
    /// Whether it lacks plants of the backup.
    pub has_less: bool,
    /// Whether it has plants that the backup lacks.
    pub has_more: bool,
}

impl Difference {
    /// Compares them by reading both.
    pub fn between(store: &dyn Engine, backup: &dyn Engine) -> Result<Self, StoreError> {
        let mut difference = Self::default();
        let mut rows = Rows::of(store);
        let mut expected = Rows::of(backup);
        let mut next = rows.next()?;
        let mut next_expected = expected.next()?;
        loop {
            let order = match (&next, &next_expected) {
                (None, None) => return Ok(difference),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(row), Some(expected)) => row.id.cmp(&expected.id),
            };
            let is_same = next == next_expected;
            difference.has_more |= !is_same && order.is_le();
            difference.has_less |= !is_same && order.is_ge();
            if order.is_le() {
                next = rows.next()?;
            }
            if order.is_ge() {
                next_expected = expected.next()?;
            }
        }
    }
}

/// The plants of a store, one by one, in the order of their ids.
struct Rows<'a> {
    store: &'a dyn Engine,
    page: vec::IntoIter<Row>,
    last_id: Option<i64>,
}

impl<'a> Rows<'a> {
    fn of(store: &'a dyn Engine) -> Self {
        Self { store, page: Vec::new().into_iter(), last_id: None }
    }

    fn next(&mut self) -> Result<Option<Row>, StoreError> {
        if self.page.len() == 0 {
            self.page = self.store.page(self.last_id, PAGE_ROWS)?.into_iter();
        }
        let row = self.page.next();
        self.last_id = row.as_ref().map_or(self.last_id, |row| Some(row.id));
        Ok(row)
    }
}
