//! The tables, and the settings of a database under which a commit is not durable.
//!
//! Each statement that creates a table is a transaction of its own, because a distributed engine
//! does not change several tables in one transaction. So each one is idempotent, and may run in
//! several servers at once.

use tokio_postgres::SimpleQueryMessage;
use tokio_postgres::error::SqlState;

use crate::Names;
use crate::engine::LAYOUT;
use crate::error::{Error, Kind};
use crate::postgres::error::Failure;
use crate::postgres::session::Session;

/// How an error names the database. The caller adds its URL.
const DATABASE: &str = "the database";

/// The layout version of a database until a copy into it has finished.
pub const UNFINISHED: u8 = 0;

/// The table of the tokens. `digest` is the SHA-256 of a token; times are Unix seconds.
const TOKENS: &str = "CREATE TABLE IF NOT EXISTS tokens (
    name text PRIMARY KEY,
    digest bytea NOT NULL UNIQUE,
    first_characters text NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint
)";

/// Returns the statements that create the tables. The first table marks a database as a store: it
/// contains the layout version, or [`UNFINISHED`] while a copy fills the other tables.
fn tables(names: &Names) -> [String; 3] {
    let (layout_table, table) = (names.layout_table(), names.table);
    [
        format!("CREATE TABLE IF NOT EXISTS {layout_table} (version bigint PRIMARY KEY)"),
        format!("CREATE TABLE IF NOT EXISTS {table} (id bigint PRIMARY KEY, json text NOT NULL)"),
        TOKENS.to_owned(),
    ]
}

/// Whether the database contains a store that this release reads. A store whose creation was
/// interrupted does not count.
///
/// # Errors
///
/// Fails if the database contains something else, or if its encoding is not UTF-8.
pub async fn contains_store(session: &Session) -> Result<bool, Failure> {
    let (layout_table, table) = (session.names.layout_table(), session.names.table);
    let query = format!(
        "SELECT current_setting('server_encoding'),
            to_regclass('{layout_table}') IS NOT NULL,
            coalesce(to_regclass('{table}'), to_regclass('tokens')) IS NOT NULL"
    );
    let row = session.row(&query).await?;
    let encoding: &str = row.try_get(0)?;
    if encoding != "UTF8" {
        let message = format!(
            "the database has the encoding {encoding}, but a store needs UTF8: create a database \
             with `createdb --encoding=UTF8 --template=template0`"
        );
        return Err(Error::new(Kind::Other, message).into());
    }
    let has_version: bool = row.try_get(1)?;
    let has_others: bool = row.try_get(2)?;
    if !has_version {
        // A table that no store of this service has, such as the tokens of another service.
        return if has_others { Err(Error::not_a_store(DATABASE).into()) } else { Ok(false) };
    }
    let version = session.row(&format!("SELECT max(version) FROM {layout_table}")).await?;
    let error = match version.try_get::<_, Option<i64>>(0)? {
        None => return Ok(false),
        Some(version) if version == i64::from(LAYOUT) => return Ok(true),
        Some(version) if version == i64::from(UNFINISHED) => {
            let message = "a copy into it was interrupted, so some rows are missing";
            Error::new(Kind::CopyUnfinished, message)
        }
        Some(other) => Error::other_layout(DATABASE, other),
    };
    Err(error.into())
}

/// Creates the missing tables.
pub async fn create_tables(session: &Session) -> Result<(), Failure> {
    for table in tables(session.names) {
        session.client.execute_typed(&table, &[]).await?;
    }
    Ok(())
}

/// Stores the layout version. Returns whether this call stored it: if several servers create a
/// store together, exactly one of them does.
pub async fn store_version(session: &Session, layout: u8) -> Result<bool, Failure> {
    let insert = format!(
        "INSERT INTO {} (version) VALUES ({layout}) ON CONFLICT (version) DO NOTHING",
        session.names.layout_table()
    );
    Ok(session.client.execute_typed(&insert, &[]).await? == 1)
}

/// Selects the settings with which a server may lose commits in a power cut, as text. The result is
/// null if there are none.
const UNSAFE: &str = "SELECT string_agg(name || '=' || current_setting(name), ' and ') \
    FROM (VALUES ('fsync'), ('full_page_writes'), ('synchronous_commit')) AS settings (name) \
    WHERE current_setting(name, true) NOT IN ('on', 'remote_apply')";

/// Runs a query on the workers of Citus, which use their own settings and not the settings of this
/// session (<https://docs.citusdata.com/en/stable/develop/api_udf.html#run-command-on-workers>). A
/// silent worker must not hold up an inspection, behind which creates wait.
const ASK_WORKERS: &str = "SET LOCAL statement_timeout = '500ms'; \
    SELECT result || ' on its worker ' || nodename || ':' || nodeport FROM run_command_on_workers";

/// Returns everything that makes a commit less than durable, in words for an operator.
pub async fn unsafe_settings(session: &Session) -> Result<Vec<String>, Failure> {
    let table = session.names.table;
    let query = format!(
        "SELECT ({UNSAFE}), to_regproc('pg_catalog.run_command_on_workers') IS NOT NULL,
            (SELECT string_agg(relname::text, ' and ') FROM pg_class
                WHERE oid IN (to_regclass('{table}'), to_regclass('tokens'),
                    to_regclass('{}'))
                AND relpersistence <> 'p')",
        session.names.layout_table()
    );
    let row = session.row(&query).await?;
    let mut settings: Vec<String> = row.try_get::<_, Option<_>>(0)?.into_iter().collect();
    if row.try_get(1)? {
        settings.extend(unsafe_settings_of_workers(session).await?);
    }
    let lossy = settings.into_iter().map(|settings| {
        format!("the database has {settings}, so it may lose commits in a power cut: set it to on")
    });
    let unlogged = row.try_get::<_, Option<String>>(2)?.map(|tables| {
        format!(
            "{tables} of the database is UNLOGGED, so a crash empties it: ALTER TABLE … SET LOGGED"
        )
    });
    Ok(lossy.chain(unlogged).collect())
}

/// Fails if a commit would not be durable.
pub async fn require_safe_settings(session: &Session) -> Result<(), Failure> {
    match unsafe_settings(session).await?.as_slice() {
        [] => Ok(()),
        faults => Err(Error::new(Kind::Misconfigured, faults.join("; ")).into()),
    }
}

/// Returns the unsafe settings of the Citus workers that answer in time.
async fn unsafe_settings_of_workers(session: &Session) -> Result<Vec<String>, Failure> {
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
