//! What in a database makes a 200 untrue: it may lose a plant, keep another one, or keep it where
//! nobody looks for it.

use tokio_postgres::SimpleQueryMessage;
use tokio_postgres::error::SqlState;

use crate::store::postgres::error::PostgresError;
use crate::store::postgres::schema::TABLES;
use crate::store::postgres::session::Session;

/// The settings of a server without which it may lose plants at a power cut, as text: null if it has
/// them. An engine that does not have such a setting, such as CockroachDB, syncs in a way of its own.
const UNSAFE: &str = "SELECT string_agg(name || '=' || current_setting(name), ' and ') \
    FROM (VALUES ('fsync'), ('full_page_writes'), ('synchronous_commit')) AS settings (name) \
    WHERE current_setting(name, true) NOT IN ('on', 'remote_apply')";

/// How the workers of Citus are asked. They use their own settings and not those of this session
/// (<https://docs.citusdata.com/en/stable/develop/api_udf.html#run-command-on-workers>). One that is
/// silent must not keep this session, which reads the tokens too.
const ASK_WORKERS: &str = "SET LOCAL statement_timeout = '1s'; \
    SELECT result || ' on its worker ' || nodename || ':' || nodeport FROM run_command_on_workers";

/// A row for each fault: whether it is a setting, and what it is. Null in the place of the first one
/// says that there are workers. A view has a rule, too. Triggers of the engine itself are internal.
fn query() -> String {
    format!(
        "WITH tables AS (
            SELECT oid, relname, relpersistence, relnamespace, relrowsecurity
            FROM pg_class WHERE oid IN ({TABLES})
        )
        SELECT true, found FROM ({UNSAFE}) AS own (found) WHERE found IS NOT NULL
        UNION ALL
        SELECT NULL, '' WHERE to_regproc('pg_catalog.run_command_on_workers') IS NOT NULL
        UNION ALL
        SELECT false, format('the table %I is UNLOGGED, so a crash empties it: \
                ALTER TABLE %I SET LOGGED', relname, relname)
            FROM tables WHERE relpersistence <> 'p'
        UNION ALL
        SELECT false, format('the table %I has row-level security, which may hide rows: \
                ALTER TABLE %I DISABLE ROW LEVEL SECURITY', relname, relname)
            FROM tables WHERE relrowsecurity
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
    let mut faults = Vec::new();
    for row in session.client.query_typed(&query(), &[]).await? {
        match row.try_get(0)? {
            Some(true) => faults.push((true, lossy(row.try_get(1)?))),
            Some(false) => faults.push((false, row.try_get(1)?)),
            None => faults.extend(of_workers(session).await?),
        }
    }
    Ok(faults)
}

/// Those of the workers that answer in time.
async fn of_workers(session: &Session) -> Result<Vec<(bool, String)>, PostgresError> {
    let ask = format!("{ASK_WORKERS}($$ {UNSAFE} $$) WHERE success AND result <> ''");
    let answers = match session.client.simple_query(&ask).await {
        Err(error) if error.code() == Some(&SqlState::QUERY_CANCELED) => return Ok(Vec::new()),
        answers => answers?,
    };
    let found = answers.iter().filter_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0),
        _ => None,
    });
    Ok(found.map(|settings| (true, lossy(settings))).collect())
}

fn lossy(settings: &str) -> String {
    format!(
        "the database has {settings}, so it may lose plants at a power cut: set it to on, or serve \
         with --without-fsync"
    )
}
