//! The tables, and what in a database makes a commit less than durable.
//!
//! Each statement is committed alone, may run twice, and may run in several servers at once: a
//! distributed engine does not change several tables in one transaction.

use tokio_postgres::SimpleQueryMessage;
use tokio_postgres::error::SqlState;

use crate::engine::Sizes;
use crate::error::StoreError;
use crate::layout::{LAYOUT, UNFINISHED};
use crate::names::{LAYOUT_TABLE, TABLE};
use crate::postgres::error::PostgresError;
use crate::postgres::session::Session;
use crate::token_row::READ;
use crate::url::StoreUrl;

/// The table of the tokens. `digest` is the SHA-256 of a token; times are Unix seconds.
const TOKENS: &str = "CREATE TABLE IF NOT EXISTS tokens (
    name text PRIMARY KEY,
    digest bytea NOT NULL UNIQUE,
    first_characters text NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint
)";

/// The statements that create the tables. The first table tells a store from any other database: it
/// contains the number of the layout, and before that [`UNFINISHED`], while a copy fills the others.
fn tables() -> [String; 3] {
    [
        format!("CREATE TABLE IF NOT EXISTS {LAYOUT_TABLE} (version bigint PRIMARY KEY)"),
        format!("CREATE TABLE IF NOT EXISTS {TABLE} (id bigint PRIMARY KEY, json text NOT NULL)"),
        TOKENS.to_owned(),
    ]
}

/// Whether there is a store: not if its creation has not ended.
///
/// # Errors
///
/// [`StoreError::CopyUnfinished`]; or the tables are not those of a store of this release, or texts
/// are not kept as UTF-8.
pub async fn is_there(session: &Session, url: &StoreUrl) -> Result<bool, PostgresError> {
    let look = format!(
        "SELECT current_setting('server_encoding'),
            to_regclass('{LAYOUT_TABLE}') IS NOT NULL, to_regclass('{TABLE}') IS NOT NULL"
    );
    let row = session.row(&look).await?;
    let encoding: &str = row.try_get(0)?;
    if encoding != "UTF8" {
        return Err(PostgresError::OtherEncoding(encoding.to_owned()));
    }
    let has_version: bool = row.try_get(1)?;
    let has_rows: bool = row.try_get(2)?;
    if !has_version && has_rows {
        return Err(StoreError::NotAStore(url.clone()).into());
    }
    if !has_version {
        return Ok(false);
    }
    let version = session.row(&format!("SELECT max(version) FROM {LAYOUT_TABLE}")).await?;
    match version.try_get::<_, Option<i64>>(0)? {
        None => Ok(false),
        Some(version) if version == i64::from(LAYOUT) => Ok(true),
        Some(version) if version == i64::from(UNFINISHED) => {
            Err(StoreError::CopyUnfinished(url.clone()).into())
        }
        Some(found) => Err(StoreError::OtherLayout { url: url.clone(), found }.into()),
    }
}

/// How often a table is tried that another server may be making. Something else of its name stays.
const MOST_TRIES: usize = 10;

/// Makes the tables that are not there, with the number of a layout. Returns whether this call
/// ended the creation: if several servers do it together, one of them did.
pub async fn create_tables(session: &Session, layout: u8) -> Result<bool, PostgresError> {
    for table in tables() {
        let mut tries = 1;
        while let Err(error) = session.client.execute_typed(&table, &[]).await {
            let error = PostgresError::from(error);
            // Not covered by `IF NOT EXISTS`: another server creates the same table at the same
            // time, and one of the two finds the other's row in the catalogue, as a key, table or
            // type.
            let may_pass = error.is_of(&["23505", "42P07", "42710"]);
            if !may_pass || tries == MOST_TRIES {
                return Err(error);
            }
            tries += 1;
        }
    }
    let made = format!(
        "INSERT INTO {LAYOUT_TABLE} (version) VALUES ({layout}) \
         ON CONFLICT (version) DO NOTHING"
    );
    Ok(session.client.execute_typed(&made, &[]).await? == 1)
}

/// The settings of a server without which it may lose commits at a power cut, as text: null if it
/// has them.
const UNSAFE: &str = "SELECT string_agg(name || '=' || current_setting(name), ' and ') \
    FROM (VALUES ('fsync'), ('full_page_writes'), ('synchronous_commit')) AS settings (name) \
    WHERE current_setting(name, true) NOT IN ('on', 'remote_apply')";

/// How the workers of Citus are asked. They use their own settings and not those of this session
/// (<https://docs.citusdata.com/en/stable/develop/api_udf.html#run-command-on-workers>). One that
/// is silent must not keep this session, which reads the tokens too.
const ASK_WORKERS: &str = "SET LOCAL statement_timeout = '500ms'; \
    SELECT result || ' on its worker ' || nodename || ':' || nodeport FROM run_command_on_workers";

/// What makes a commit less than durable, in words for an operator.
pub async fn unsafe_settings(session: &Session) -> Result<Vec<String>, PostgresError> {
    let query = format!(
        "SELECT ({UNSAFE}), to_regproc('pg_catalog.run_command_on_workers') IS NOT NULL,
            (SELECT string_agg(relname::text, ' and ') FROM pg_class
                WHERE oid IN (to_regclass('{TABLE}'), to_regclass('tokens'))
                AND relpersistence <> 'p')"
    );
    let row = session.row(&query).await?;
    let mut settings: Vec<String> = row.try_get::<_, Option<_>>(0)?.into_iter().collect();
    if row.try_get(1)? {
        settings.extend(of_workers(session).await?);
    }
    let lossy = settings.into_iter().map(|settings| {
        format!("the database has {settings}, so it may lose commits at a power cut: set it to on")
    });
    let unlogged = row.try_get::<_, Option<String>>(2)?.map(|tables| {
        format!(
            "{tables} of the database is UNLOGGED, so a crash empties it: ALTER TABLE … SET LOGGED"
        )
    });
    Ok(lossy.chain(unlogged).collect())
}

/// Fails if a commit would be less than durable.
pub async fn refuse_unsafe(session: &Session) -> Result<(), PostgresError> {
    match unsafe_settings(session).await?.as_slice() {
        [] => Ok(()),
        faults => Err(PostgresError::Unsafe(faults.join("; "))),
    }
}

/// Those of the workers that answer in time.
async fn of_workers(session: &Session) -> Result<Vec<String>, PostgresError> {
    let ask = format!("{ASK_WORKERS}($$ {UNSAFE} $$) WHERE success AND result <> ''");
    let answers = match session.client.simple_query(&ask).await {
        Err(error) if error.code() == Some(&SqlState::QUERY_CANCELED) => return Ok(Vec::new()),
        answers => answers?,
    };
    let found = answers.iter().filter_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
        _ => None,
    });
    Ok(found.collect())
}

/// What is wrong with the tables: a column is not there, or `id` is not the key any more. The
/// database's own tools check its files (<https://www.postgresql.org/docs/current/amcheck.html>).
pub async fn faults_of_tables(session: &Session) -> Result<Vec<String>, PostgresError> {
    let write = format!(
        "EXPLAIN INSERT INTO {TABLE} (id, json) VALUES (1, '') ON CONFLICT (id) DO NOTHING"
    );
    let read = format!("{READ} LIMIT 0");
    let mut faults = Vec::new();
    for (table, look) in [(TABLE, &write), ("tokens", &read)] {
        match session.client.batch_execute(look).await.map_err(PostgresError::from) {
            Err(error) if error.is_of(&["42703", "42P"]) => faults
                .push(format!("the tables are not those of a store: {table} was changed: {error}")),
            looked => looked?,
        }
    }
    Ok(faults)
}

/// What the rows take in the database; of several nodes, on this one.
pub async fn sizes(session: &Session) -> Result<Sizes, PostgresError> {
    let row = session.row(&format!("SELECT pg_total_relation_size('{TABLE}')")).await?;
    Ok(Sizes { store: Some(row.try_get::<_, i64>(0)?.unsigned_abs()), ..Sizes::default() })
}
