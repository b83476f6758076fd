//! Every plant of a store, page by page. A terminal shows how many there were so far. They are not
//! counted before, because that reads the whole store.

use std::io::{self, IsTerminal, Write};

use anyhow::Result;

use crate::command::store_args::of_store;
use crate::store::{Engine, Row, StoreUrl};

/// Reads the plants in the order of their ids, in constant memory. `url` says which store it is.
pub fn for_each_page(
    url: &StoreUrl,
    store: &dyn Engine,
    mut take: impl FnMut(&[Row]) -> Result<()>,
) -> Result<()> {
    let is_seen = io::stderr().is_terminal();
    let (mut plants, mut last) = (0, None);
    loop {
        let page = store.page(last).map_err(of_store(url))?;
        let Some(row) = page.last() else { return Ok(()) };
        last = Some(row.id);
        take(&page)?;
        plants += page.len();
        if is_seen {
            // The cursor goes back, so that the next line writes over this one.
            let _ = write!(io::stderr(), "{plants} plants\r");
        }
    }
}
