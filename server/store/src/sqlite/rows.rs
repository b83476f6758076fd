//! Adding, comparing and reading rows.

use std::sync::Arc;

use rusqlite::Connection;
use rusqlite::types::Type;

use crate::engine::{Outcome, PAGE_BYTES, Row};
use crate::error::{Cause, WriteError};
use crate::names::TABLE;
use crate::same_json::is_same_json;
use crate::sqlite::error::Unsound;
use crate::sqlite::schema;

/// Commits the rows whose ids are free. Without rows it is a test write: it rewrites a page
/// unchanged, because a transaction without a write would not show whether the store takes writes.
pub fn commit(connection: &mut Connection, rows: &[Row]) -> Result<Vec<Outcome>, WriteError> {
    let transaction = connection.transaction()?;
    let outcomes = if rows.is_empty() {
        // SQLite leaves this field to the user, and the store does not use it.
        let version: i32 =
            transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
        transaction.pragma_update(None, "user_version", version)?;
        Vec::new()
    } else {
        add(&transaction, rows)?
    };
    transaction.commit()?;
    Ok(outcomes)
}

fn add(transaction: &Connection, rows: &[Row]) -> rusqlite::Result<Vec<Outcome>> {
    let mut insert = transaction.prepare_cached(&format!(
        "INSERT INTO {TABLE} (id, json) VALUES (?1, ?2) ON CONFLICT (id) DO NOTHING"
    ))?;
    let mut kept =
        transaction.prepare_cached(&format!("SELECT json FROM {TABLE} WHERE id = ?1"))?;
    let outcomes = rows.iter().map(|row| {
        if insert.execute((row.id, &*row.json))? == 1 {
            return Ok(Outcome::Created);
        }
        let is_same = kept.query_row([row.id], |kept| {
            // A text that is not UTF-8 was written by another program, so it is a different row.
            Ok(kept.get_ref(0)?.as_str().is_ok_and(|kept| is_same_json(kept, &row.json)))
        })?;
        Ok(if is_same { Outcome::Repeated } else { Outcome::Conflict })
    });
    outcomes.collect()
}

/// Reads the next rows after an id, in the order of the ids. Each page is a transaction of its own,
/// so that the WAL can be reset between two pages.
pub fn page(
    connection: &Connection,
    after: Option<i64>,
    limit: usize,
) -> rusqlite::Result<Vec<Row>> {
    let condition = after.map_or(String::new(), |id| format!("WHERE id > {id}"));
    let query = format!("SELECT id, json FROM {TABLE} {condition} ORDER BY id");
    let mut statement = connection.prepare(&query)?;
    let mut rows = statement.query([])?;
    let mut page = Vec::new();
    let mut bytes = 0;
    while page.len() < limit
        && bytes < PAGE_BYTES
        && let Some(row) = rows.next()?
    {
        let id = row.get(0)?;
        let json: Arc<str> = row
            .get(1)
            .map_err(|error| malformed_row(format!("the text of the id {id}: {error}")))?;
        bytes += json.len();
        page.push(Row { id, json });
    }
    Ok(page)
}

/// Counts the rows, after a check of the database's structure: in a damaged database the count and
/// the pages may lack the same rows.
pub fn count(connection: &Connection) -> Result<u64, Cause> {
    let damage = schema::damage(connection, "main.quick_check(1)")?;
    if !damage.is_empty() {
        return Err(Unsound(damage).into());
    }
    let query = format!("SELECT count(*) FROM {TABLE}");
    let count = connection.query_row(&query, [], |row| row.get(0));
    Ok(count.map(i64::unsigned_abs)?)
}

/// Returns the error for a row that this service did not write.
pub fn malformed_row(cause: impl Into<Cause>) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, Type::Text, cause.into())
}
