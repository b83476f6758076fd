//! Reading rows, and reading and changing tokens, on the second connection. The first one commits.

use std::sync::Arc;

use rusqlite::Connection;

use crate::Names;
use crate::engine::{PAGE_BYTES, Row};
use crate::error::{Error, Kind};
use crate::sqlite::schema;
use crate::token::{ADD, READ, REVOKE, StoredToken, TokenName, token_of_row};

/// Reads the row with this id, if there is one.
pub fn get(
    connection: &Connection,
    Names { table, .. }: &Names,
    id: i64,
) -> Result<Option<Row>, Error> {
    let query = format!("SELECT id, json FROM {table} WHERE id = ?1");
    let mut statement = connection.prepare_cached(&query)?;
    let mut rows = statement.query([id])?;
    rows.next()?.map(to_row).transpose()
}

/// Reads the next rows after an id, in the order of the ids. Each page is a transaction of its own,
/// so that the WAL can be reset between two pages.
pub fn page(
    connection: &Connection,
    Names { table, .. }: &Names,
    after: Option<i64>,
    limit: usize,
) -> Result<Vec<Row>, Error> {
    let condition = after.map_or(String::new(), |id| format!("WHERE id > {id}"));
    let query = format!("SELECT id, json FROM {table} {condition} ORDER BY id");
    let mut statement = connection.prepare(&query)?;
    let mut rows = statement.query([])?;
    let mut page = Vec::new();
    let mut bytes = 0;
    while page.len() < limit
        && bytes < PAGE_BYTES
        && let Some(row) = rows.next()?
    {
        let row = to_row(row)?;
        bytes += row.json.len();
        page.push(row);
    }
    Ok(page)
}

fn to_row(row: &rusqlite::Row<'_>) -> Result<Row, Error> {
    let id = row.get(0)?;
    let json: Arc<str> = row
        .get(1)
        .map_err(|error| Error::new(Kind::Damaged, format!("the text of the id {id}: {error}")))?;
    Ok(Row { id, json })
}

/// Counts the rows, after a check of the database's structure: in a damaged database the count and
/// the pages may lack the same rows.
pub fn count(connection: &Connection, Names { table, .. }: &Names) -> Result<u64, Error> {
    let damage = schema::damage(connection, "main.quick_check(1)")?;
    if !damage.is_empty() {
        return Err(Error::new(Kind::Damaged, damage.join("; ")));
    }
    let query = format!("SELECT count(*) FROM {table}");
    let count = connection.query_row(&query, [], |row| row.get(0));
    Ok(count.map(i64::unsigned_abs)?)
}

/// Reads all tokens in the order of their names.
pub fn tokens(connection: &Connection) -> Result<Vec<StoredToken>, Error> {
    let mut statement = connection.prepare_cached(&format!("{READ} ORDER BY name"))?;
    let mut rows = statement.query([])?;
    let mut tokens = Vec::new();
    while let Some(row) = rows.next()? {
        let name: String = row.get(0)?;
        let digest: Vec<u8> = row.get(1)?;
        tokens.push(token_of_row(&name, &digest, row.get(2)?, row.get(3)?, row.get(4)?)?);
    }
    Ok(tokens)
}

/// Adds a token. Fails if its name is taken.
pub fn add_token(connection: &Connection, token: &StoredToken) -> rusqlite::Result<()> {
    let row = (
        token.name.as_str(),
        token.digest.0,
        &token.first_characters,
        token.created_at.timestamp(),
        token.expires_at.map(|expiry| expiry.timestamp()),
    );
    connection.execute(ADD, row).map(drop)
}

/// Removes the token with that name, if there is one.
pub fn revoke_token(connection: &Connection, name: &TokenName) -> rusqlite::Result<()> {
    connection.execute(REVOKE, [name.as_str()]).map(drop)
}
