//! The schema, as the steps that lead to it: the same versions as those of a store in SQLite.
//!
//! Each statement is committed alone, may run twice, and may run in several servers at once: a
//! distributed engine does not change several tables in one transaction. A step that was released
//! must never be changed.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use tokio_postgres::error::SqlState;

use crate::store::postgres::error::PostgresError;
use crate::store::postgres::session::Session;
use crate::store::version::VERSION;

/// The first step makes version 1, the second version 2, and so on.
const STEPS: &[&[&str]] = &[
    // A table of an engine that spreads `plants` by `id` keeps its key. `digest` is the SHA-256 of
    // a token; times are Unix seconds.
    &[
        "CREATE TABLE IF NOT EXISTS plants (
            id bigint PRIMARY KEY,
            name bytea NOT NULL,
            tag bytea
        )",
        "CREATE TABLE IF NOT EXISTS tokens (
            name text PRIMARY KEY,
            digest bytea NOT NULL UNIQUE,
            first_characters text NOT NULL,
            created_at bigint NOT NULL,
            expires_at bigint
        )",
    ],
    // One row: how often the tokens have changed. And a row for each server: up to which change it
    // has read the tokens, and when it last said so.
    &[
        "CREATE TABLE IF NOT EXISTS token_changes (
            id bigint PRIMARY KEY,
            made bigint NOT NULL
        )",
        "INSERT INTO token_changes (id, made) VALUES (1, 0) ON CONFLICT (id) DO NOTHING",
        "CREATE TABLE IF NOT EXISTS servers (
            id bigint PRIMARY KEY,
            confirmed bigint NOT NULL,
            seen_at timestamptz NOT NULL
        )",
    ],
];

/// The table that tells a plant store from any other database: it holds the versions that the
/// store has had.
const VERSIONS: &str = "CREATE TABLE IF NOT EXISTS plant_store_schema (version bigint PRIMARY KEY)";

/// The tables, as the search path finds them; NULL for one that is not there.
pub const TABLES: &str = "to_regclass('plants'), to_regclass('tokens'), \
    to_regclass('token_changes'), to_regclass('servers'), to_regclass('plant_store_schema')";

const _: () = assert!(
    STEPS.len() == VERSION as usize,
    "each step makes the next version: set VERSION in store/version.rs"
);

/// The version of the store; none if there is no store, or one whose creation has not ended.
pub async fn version(session: &Session) -> Result<Option<u32>, PostgresError> {
    let found = session.row("SELECT max(version) FROM plant_store_schema").await;
    match found {
        Err(error) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => Ok(None),
        Err(error) => Err(error),
        Ok(row) => {
            let version: Option<i64> = row.try_get(0)?;
            Ok(version.map(|version| u32::try_from(version).unwrap_or(u32::MAX)))
        }
    }
}

/// Whether there is a table of that name.
pub async fn has_table(session: &Session, name: &str) -> Result<bool, PostgresError> {
    match session.client.query_typed(&format!("SELECT 1 FROM {name} LIMIT 0"), &[]).await {
        Ok(_) => Ok(true),
        Err(error) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Takes the steps that the store lacks. Sets `has_created` if this call created the store: if several
/// servers do it together, one of them did.
///
/// # Errors
///
/// If [`is_a_race`], another server does the same at the same time. Then do it again.
pub async fn bring_up_to_date(
    session: &Session,
    has_created: &AtomicBool,
) -> Result<(), PostgresError> {
    session.client.execute_typed(VERSIONS, &[]).await?;
    let found = version(session).await?.unwrap_or(0);
    for (step, version) in STEPS.iter().zip(1..).skip(found as usize) {
        for statement in *step {
            session.client.execute_typed(statement, &[]).await?;
        }
        let taken = format!(
            "INSERT INTO plant_store_schema (version) VALUES ({version}) \
             ON CONFLICT (version) DO NOTHING"
        );
        let is_first = session.client.execute_typed(&taken, &[]).await? == 1;
        if version == 1 && is_first {
            has_created.store(true, Relaxed);
        }
    }
    Ok(())
}

/// Whether another one created the same table at the same time. `IF NOT EXISTS` does not cover that:
/// one of the two finds the other's row in the catalogue.
pub fn is_a_race(error: &PostgresError) -> bool {
    const RACES: [SqlState; 3] =
        [SqlState::UNIQUE_VIOLATION, SqlState::DUPLICATE_TABLE, SqlState::DUPLICATE_OBJECT];
    error.code().is_some_and(|code| RACES.contains(code))
}

/// What is wrong with a store of another version.
pub fn unfit(found: Option<u32>) -> String {
    match found {
        None => "there is no plant store in the database".to_owned(),
        Some(found) => format!("the store has schema version {found}, and needs {VERSION}"),
    }
}

/// The columns of the tables, and the version from which a store has them: the table, the column,
/// its type, and whether it may be NULL.
const COLUMNS: [(u32, [&str; 4]); 14] = [
    (1, ["plant_store_schema", "version", "bigint", "NO"]),
    (1, ["plants", "id", "bigint", "NO"]),
    (1, ["plants", "name", "bytea", "NO"]),
    (1, ["plants", "tag", "bytea", "YES"]),
    (2, ["servers", "id", "bigint", "NO"]),
    (2, ["servers", "confirmed", "bigint", "NO"]),
    (2, ["servers", "seen_at", "timestamp with time zone", "NO"]),
    (2, ["token_changes", "id", "bigint", "NO"]),
    (2, ["token_changes", "made", "bigint", "NO"]),
    (1, ["tokens", "name", "text", "NO"]),
    (1, ["tokens", "digest", "bytea", "NO"]),
    (1, ["tokens", "first_characters", "text", "NO"]),
    (1, ["tokens", "created_at", "bigint", "NO"]),
    (1, ["tokens", "expires_at", "bigint", "YES"]),
];

/// Whether the tables have the columns of that version, and no others.
pub async fn has_columns_of(version: u32, session: &Session) -> Result<bool, PostgresError> {
    let query = format!(
        "SELECT table_name::text, column_name::text, data_type::text, is_nullable::text \
         FROM information_schema.columns \
         WHERE to_regclass(format('%I.%I', table_schema, table_name)) IN ({TABLES}) \
         ORDER BY table_name::text COLLATE \"C\", ordinal_position"
    );
    let rows = session.client.query_typed(&query, &[]).await?;
    let mut found = Vec::new();
    for row in &rows {
        found.push([row.try_get(0)?, row.try_get(1)?, row.try_get(2)?, row.try_get::<_, &str>(3)?]);
    }
    let expected = COLUMNS.iter().filter(|(since, _)| *since <= version);
    Ok(found.iter().eq(expected.map(|(_, column)| column)))
}

/// The columns of the table `plants`, which an older release may have made.
pub async fn columns_of_plants(session: &Session) -> Result<Vec<String>, PostgresError> {
    let query = "SELECT attname::text FROM pg_attribute \
                 WHERE attrelid = 'plants'::regclass AND attnum > 0 AND NOT attisdropped";
    let rows = session.client.query_typed(query, &[]).await?;
    rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
}

#[cfg(test)]
mod tests;
