//! What in a database makes a 200 untrue: it may lose a plant, keep another one, or keep it where
//! nobody looks for it.

use crate::store::postgres::error::PostgresError;
use crate::store::postgres::schema::TABLES;
use crate::store::postgres::session::Session;

/// A row for each fault: what it is, and whether it is a setting. An engine that does not have the
/// settings, such as CockroachDB, syncs in a way of its own. A view has a rule, too. Triggers of the
/// engine itself are internal.
fn query() -> String {
    format!(
        "WITH tables AS (
            SELECT oid, relname, relpersistence, relnamespace FROM pg_class WHERE oid IN ({TABLES})
        )
        SELECT true, format('the database has %s=off, so it may lose plants at a power cut: \
                set it to on, or serve with --without-fsync', name)
            FROM (VALUES ('fsync'), ('full_page_writes')) AS settings (name)
            WHERE current_setting(name, true) = 'off'
        UNION ALL
        SELECT false, format('the table %I is UNLOGGED, so a crash empties it: \
                ALTER TABLE %I SET LOGGED', relname, relname)
            FROM tables WHERE relpersistence <> 'p'
        UNION ALL
        SELECT false, format('the table %I has the trigger %I, which may change what is stored: \
                drop it', relname, tgname)
            FROM tables JOIN pg_trigger ON tgrelid = tables.oid
            WHERE NOT tgisinternal AND tgenabled <> 'D'
        UNION ALL
        SELECT false, format('the table %I has the rule %I, which may change what is stored: \
                drop it', relname, rulename)
            FROM tables JOIN pg_rewrite ON ev_class = tables.oid
        UNION ALL
        SELECT false, format('the schema %s has a table %I in front of that of the store, which is \
                in the schema %s: move it away, or change search_path',
                tables.relnamespace::regnamespace, tables.relname, store.relnamespace::regnamespace)
            FROM tables JOIN tables AS store ON store.relname = 'plant_store_schema'
                AND store.relnamespace <> tables.relnamespace"
    )
}

/// All of them, in words for an operator.
pub async fn all(session: &Session) -> Result<Vec<String>, PostgresError> {
    Ok(find(session).await?.into_iter().map(|(_, fault)| fault).collect())
}

/// Fails if there is one; `without_fsync` allows those of the settings.
pub async fn check(session: &Session, without_fsync: bool) -> Result<(), PostgresError> {
    let mut faults = find(session).await?;
    faults.retain(|(is_setting, _)| !(without_fsync && *is_setting));
    let faults: Vec<_> = faults.into_iter().map(|(_, fault)| fault).collect();
    if faults.is_empty() { Ok(()) } else { Err(PostgresError::Unsafe(faults.join("; "))) }
}

async fn find(session: &Session) -> Result<Vec<(bool, String)>, PostgresError> {
    let rows = session.client.query_typed(&query(), &[]).await?;
    rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
}
