//! Adding, comparing and reading rows, and reading and changing tokens.
//!
//! A batch is one statement, so it is one transaction and takes one round trip. If some ids were
//! taken, a second round trip reads their texts. A row never changes, and the transaction has
//! waited for the rows that it conflicted with, so this read needs no transaction.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};

use crate::Names;
use crate::engine::{Outcome, PAGE_BYTES, Row};
use crate::error::{Error, Kind};
use crate::postgres::error::Failure;
use crate::postgres::session::Session;
use crate::token::{ADD, READ, REVOKE, StoredToken, TokenName, token_of_row};

/// Returns the statements of a test write. It takes the same locks and needs the same privileges as
/// a create, but changes nothing. The message exists only in the WAL; without it, the commit would
/// neither sync nor wait for a standby.
fn test_write(Names { program, table, .. }: &Names) -> String {
    format!(
        "INSERT INTO {table} (id, json) SELECT id, json FROM {table} WHERE false \
         ON CONFLICT (id) DO UPDATE SET json = {table}.json WHERE false; \
         SELECT pg_logical_emit_message(true, '{program}', '')"
    )
}

/// Commits the rows and returns an outcome for each. Without rows it is a test write.
pub async fn commit(session: &Session, rows: &[Row]) -> Result<Vec<Outcome>, Failure> {
    if rows.is_empty() {
        return Ok(session
            .client
            .batch_execute(&test_write(session.names))
            .await
            .map(|()| Vec::new())?);
    }
    // The first row of each id, in the order of the ids: transactions with the same ids lock them
    // in the same order, so they cannot deadlock. A statement may contain an id only once.
    let mut firsts: Vec<_> = rows.iter().collect();
    // This sort is stable, so the first row of an id stays the first.
    firsts.sort_by_key(|row| row.id);
    firsts.dedup_by_key(|row| row.id);
    let created = add(session, &firsts).await.map_err(Failure::without_message)?;
    if created.len() == rows.len() {
        return Ok(vec![Outcome::Created; created.len()]);
    }
    let ids = firsts.iter().map(|row| row.id);
    let taken: Vec<_> = ids.filter(|id| !created.contains(id)).collect();
    let table = session.names.table;
    let query = format!("SELECT id, json FROM {table} WHERE id = ANY($1)");
    let found = session.client.query_typed(&query, &[(&taken, Type::INT8_ARRAY)]).await?;
    let stored = to_rows(&found)?;
    if stored.len() != taken.len() {
        return Err(Failure::transient("a row was removed from the store"));
    }
    let mut kept: HashMap<_, _> = stored.iter().map(|row| (row.id, &row.json)).collect();
    let outcomes = rows.iter().map(|row| match kept.entry(row.id) {
        Entry::Vacant(free) => {
            free.insert(&row.json);
            Outcome::Created
        }
        Entry::Occupied(kept) => Outcome::of_taken_id(kept.get(), &row.json),
    });
    Ok(outcomes.collect())
}

/// Adds the rows whose ids are free, and returns the added ids.
async fn add(session: &Session, rows: &[&Row]) -> Result<HashSet<i64>, Failure> {
    let ids: Vec<_> = rows.iter().map(|row| row.id).collect();
    let texts: Vec<_> = rows.iter().map(|row| &*row.json).collect();
    // A single statement is a transaction of its own.
    let added = session.client.query(session.insert().await?, &[&ids, &texts]).await?;
    added.iter().map(|row| Ok(row.try_get(0)?)).collect()
}

fn to_rows(rows: &[tokio_postgres::Row]) -> Result<Vec<Row>, Failure> {
    let to_row = |row: &tokio_postgres::Row| {
        let json: &str = row.try_get(1)?;
        Ok(Row { id: row.try_get(0)?, json: json.into() })
    };
    rows.iter().map(to_row).collect()
}

/// Reads the row with this id, if there is one.
pub async fn get(session: &Session, id: i64) -> Result<Option<Row>, Failure> {
    let query = format!("SELECT id, json FROM {} WHERE id = $1", session.names.table);
    let found = session.client.query_typed(&query, &[(&id, Type::INT8)]).await?;
    Ok(to_rows(&found)?.pop())
}

/// Reads the next rows after an id, in the order of the ids. The database itself ends the page, so
/// it sends no more than one page.
pub async fn page(
    session: &Session,
    after: Option<i64>,
    limit: usize,
) -> Result<Vec<Row>, Failure> {
    let table = session.names.table;
    // A quoted number becomes a bigint, whatever its value.
    let condition = after.map_or(String::new(), |id| format!("WHERE id > '{id}'"));
    let query = format!(
        "SELECT id, json FROM (
            SELECT id, json, sum(octet_length(json)) OVER (ORDER BY id) AS bytes
            FROM (SELECT id, json FROM {table} {condition} ORDER BY id LIMIT {limit}) AS first
        ) AS page WHERE bytes - octet_length(json) < {PAGE_BYTES} ORDER BY id"
    );
    to_rows(&session.client.query_typed(&query, &[]).await?)
}

/// Counts the rows.
pub async fn count(session: &Session) -> Result<u64, Failure> {
    let row = session.row(&format!("SELECT count(*) FROM {}", session.names.table)).await?;
    Ok(row.try_get::<_, i64>(0)?.unsigned_abs())
}

/// Reads all tokens in the order of their names. They are sorted here, because the database's order
/// depends on its locale.
pub async fn tokens(session: &Session) -> Result<Vec<StoredToken>, Failure> {
    let mut tokens = Vec::new();
    for row in session.client.query_typed(READ, &[]).await? {
        let name = row.try_get(0)?;
        let digest = row.try_get(1)?;
        let token = token_of_row(name, digest, row.try_get(2)?, row.try_get(3)?, row.try_get(4)?);
        tokens.push(token?);
    }
    tokens.sort_by(|one, other| one.name.as_str().cmp(other.name.as_str()));
    Ok(tokens)
}

/// Adds tokens in one transaction. Fails if one of their names is taken.
pub async fn add_tokens(session: &Session, tokens: &[StoredToken]) -> Result<(), Failure> {
    session.client.batch_execute("BEGIN").await?;
    for token in tokens {
        let expires_at = token.expires_at.map(|expiry| expiry.timestamp());
        let values: [(&(dyn ToSql + Sync), Type); 5] = [
            (&token.name.as_str(), Type::TEXT),
            (&token.digest.0.as_slice(), Type::BYTEA),
            (&token.first_characters, Type::TEXT),
            (&token.created_at.timestamp(), Type::INT8),
            (&expires_at, Type::INT8),
        ];
        match session.client.execute_typed(ADD, &values).await {
            // The caller gives up at once: closing the session rolls the transaction back.
            Err(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => {
                let message = format!("a token named \"{}\" already exists", token.name.as_str());
                return Err(Error::new(Kind::Other, message).into());
            }
            added => added?,
        };
    }
    Ok(session.client.batch_execute("COMMIT").await?)
}

/// Removes the token with that name, if there is one.
pub async fn revoke_token(session: &Session, name: &TokenName) -> Result<(), Failure> {
    let values: [(&(dyn ToSql + Sync), Type); 1] = [(&name.as_str(), Type::TEXT)];
    session.client.execute_typed(REVOKE, &values).await?;
    Ok(())
}
