//! Whether a store is sound, and how large it is.

use tokio_postgres::error::SqlState;

use crate::store::engine::Sizes;
use crate::store::postgres::error::PostgresError;
use crate::store::postgres::faults;
use crate::store::postgres::schema;
use crate::store::postgres::session::Session;

/// What is wrong with the database's settings and with the tables; nothing if the store is
/// sound. The database's own tools check its files
/// (<https://www.postgresql.org/docs/current/amcheck.html>).
pub async fn faults(session: &Session) -> Result<Vec<String>, PostgresError> {
    let mut faults = faults::all(session).await?;
    let version = schema::version(session).await?.unwrap_or_default();
    if !schema::has_columns_of(version, session).await? {
        faults.push(format!("the tables are not those of schema version {version}"));
    }
    // Fails if `id` is not the key any more.
    let insert = "EXPLAIN INSERT INTO plants (id, name) VALUES (1, '') ON CONFLICT (id) DO NOTHING";
    match session.client.query_typed(insert, &[]).await {
        Err(error) if error.code() == Some(&SqlState::INVALID_COLUMN_REFERENCE) => {
            faults.push("plants.id is not a key".to_owned());
        }
        // What was found before says why, such as a policy that hides rows.
        Err(_) if !faults.is_empty() => {}
        explained => drop(explained?),
    }
    Ok(faults)
}

/// What the plants take in the database; of several nodes, on this one. None if the engine does not
/// have the function.
pub async fn sizes(session: &Session) -> Result<Sizes, PostgresError> {
    let found = session.row("SELECT pg_total_relation_size('plants')").await;
    let store = match found {
        Err(error) if error.code() == Some(&SqlState::UNDEFINED_FUNCTION) => None,
        found => Some(found?.try_get::<_, i64>(0)?.unsigned_abs()),
    };
    Ok(Sizes { store, ..Sizes::default() })
}
