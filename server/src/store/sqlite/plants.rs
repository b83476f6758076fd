//! The table of plants.

use rusqlite::{CachedStatement, Connection, Transaction};

use crate::store::engine::{Outcome, PAGE_BYTES, PAGE_ROWS, Row, is_same_plant};

/// Puts the rows in, each unless its id is taken.
pub fn put(transaction: &Transaction<'_>, rows: &[Row]) -> rusqlite::Result<Vec<Outcome>> {
    let mut insert = transaction.prepare_cached(
        "INSERT INTO plants (id, plant) VALUES (?1, ?2) ON CONFLICT (id) DO NOTHING",
    )?;
    let mut kept = transaction.prepare_cached("SELECT plant FROM plants WHERE id = ?1")?;
    rows.iter().map(|row| put_one(&mut insert, &mut kept, row)).collect()
}

fn put_one(
    insert: &mut CachedStatement<'_>,
    kept: &mut CachedStatement<'_>,
    row: &Row,
) -> rusqlite::Result<Outcome> {
    if insert.execute((row.id, &row.plant))? == 1 {
        return Ok(Outcome::Created);
    }
    let is_same = kept.query_row([row.id], |kept| {
        // A text that is not UTF-8 was written by somebody else: it is another plant.
        Ok(kept.get_ref(0)?.as_str().is_ok_and(|kept| is_same_plant(kept, &row.plant)))
    })?;
    Ok(if is_same { Outcome::Repeated } else { Outcome::Conflict })
}

/// The rows behind that id. A transaction of its own, so the WAL may start over between two pages.
pub fn page(connection: &Connection, after: Option<i64>) -> rusqlite::Result<Vec<Row>> {
    let mut page = Vec::new();
    let Some(first) = after.map_or(Some(i64::MIN), |id| id.checked_add(1)) else {
        return Ok(page);
    };
    let mut statement =
        connection.prepare_cached("SELECT id, plant FROM plants WHERE id >= ?1 ORDER BY id")?;
    let (mut rows, mut bytes) = (statement.query([first])?, 0);
    while page.len() < PAGE_ROWS
        && bytes < PAGE_BYTES
        && let Some(row) = rows.next()?
    {
        let row = Row { id: row.get(0)?, plant: row.get(1)? };
        bytes += row.plant.len();
        page.push(row);
    }
    Ok(page)
}
