//! A restore: the rows of a backup take the place of a store's own, in one transaction of SQLite.
//!
//! The backup is never changed, and no file is moved. Whatever interrupts a restore, the store has
//! its old rows or those of the backup, and the same restore may be run again.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rusqlite::Connection;

use crate::engine::{Engine, IfMissing, Served};
use crate::error::{Cause, StoreError};
use crate::names::TABLE;
use crate::sqlite::error::{Unsound, failed};
use crate::sqlite::files::files_beside;
use crate::sqlite::open::open_to_serve;
use crate::sqlite::{schema, tokens};
use crate::token::TokenName;

const READ_BACKUP: &str = "read the backup";
const READ_TOKENS: &str = "read its tokens";
const RESTORE: &str = "restore the backup";

/// What a restore has done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// How many rows the store had.
    pub before: u64,
    /// How many of them the backup lacks: it has no row of that id, or a different one.
    pub gone: u64,
    /// How many rows the store has now: all of the backup.
    pub after: u64,
    /// The tokens that the store accepts now.
    pub tokens: Vec<TokenName>,
}

/// Replaces the rows of the store at `path` by those of `backup`. The store keeps its tokens,
/// unless `tokens_of` names another store's file: then it gets that file's tokens. If there is no
/// store, one is created, for which `tokens_of` is needed.
///
/// # Errors
///
/// [`StoreError::Missing`] if there is no store and `tokens_of` is none;
/// [`StoreError::ServedElsewhere`] if a server runs on the store. The store is as it was.
pub fn restore(
    path: &Path,
    backup: &Path,
    tokens_of: Option<&Path>,
) -> Result<Restored, StoreError> {
    require_store(backup, READ_BACKUP)?;
    if let Some(file) = tokens_of {
        require_store(file, READ_TOKENS)?;
    }
    let if_missing = if tokens_of.is_some() { IfMissing::Create } else { IfMissing::Fail };
    let Served { mut store, .. } = open_to_serve(path, if_missing)?;
    let restored = restore_into(store.connection(), path, backup, tokens_of);
    // Before the store is closed, which copies WALs: the WALs of attached files stay as they are.
    let detached = detach(store.connection()).map_err(failed(path, RESTORE));
    let closed = store.close();
    let restored = restored?;
    detached?;
    closed?;
    Ok(restored)
}

fn restore_into(
    connection: &mut Connection,
    path: &Path,
    backup: &Path,
    tokens_of: Option<&Path>,
) -> Result<Restored, StoreError> {
    require_another_file(path, backup)?;
    let damage = schema::faults(connection, "main").map_err(failed(path, RESTORE))?;
    require_none(damage).map_err(failed(path, RESTORE))?;
    attach_backup(connection, backup).map_err(failed(backup, READ_BACKUP))?;
    if let Some(file) = tokens_of {
        attach_tokens(connection, file).map_err(failed(file, READ_TOKENS))?;
    }
    replace(connection, tokens_of.is_some()).map_err(failed(path, RESTORE))
}

fn require_store(file: &Path, doing: &'static str) -> Result<(), StoreError> {
    schema::require_store(file, &File::open(file).map_err(failed(file, doing))?)
}

/// Fails if the backup is the store itself.
fn require_another_file(path: &Path, backup: &Path) -> Result<(), StoreError> {
    let id = |file: &Path| fs::metadata(file).map(|file| (file.dev(), file.ino()));
    match (id(path), id(backup)) {
        (Ok(store), Ok(backup)) if store != backup => Ok(()),
        _ => Err(failed(backup, READ_BACKUP)("it is the store that is to be replaced")),
    }
}

/// Attaches the file of another store, to read it. If no other file lies beside it, nobody has it
/// open, and SQLite reads it as one that nobody changes, also from a disk that is read-only
/// (<https://sqlite.org/c3ref/open.html#coreuriqueryparameters>).
fn attach(connection: &Connection, file: &Path, name: &str) -> Result<(), Cause> {
    let file = file.canonicalize()?;
    let path = file.to_str().ok_or("its path is not UTF-8")?;
    let escaped = path.replace('%', "%25").replace('#', "%23").replace('?', "%3f");
    let mode = if files_beside(&file).is_empty() { "immutable=1" } else { "mode=ro" };
    connection.execute(&format!("ATTACH ?1 AS {name}"), [format!("file:{escaped}?{mode}")])?;
    Ok(())
}

/// Attaches the backup, which must be sound, as `backup`.
fn attach_backup(connection: &Connection, file: &Path) -> Result<(), Cause> {
    attach(connection, file, "backup")?;
    require_none(schema::faults(connection, "backup")?)?;
    let query = format!("SELECT count(*) FROM backup.{TABLE} WHERE NOT json_valid(json)");
    match count(connection, &query)? {
        0 => Ok(()),
        malformed => Err(Unsound(vec![format!("rows that are not JSON: {malformed}")]).into()),
    }
}

/// Attaches the file whose tokens the store gets, as `other`. The file may be damaged elsewhere.
fn attach_tokens(connection: &Connection, file: &Path) -> Result<(), Cause> {
    attach(connection, file, "other")?;
    Ok(require_none(schema::damage(connection, "other.integrity_check(tokens)")?)?)
}

fn require_none(faults: Vec<String>) -> Result<(), Unsound> {
    if faults.is_empty() { Ok(()) } else { Err(Unsound(faults)) }
}

/// The transaction. The connection waits for the locks of others, such as of a token command.
fn replace(connection: &mut Connection, takes_tokens: bool) -> Result<Restored, Cause> {
    let transaction = connection.transaction()?;
    let before = count(&transaction, &format!("SELECT count(*) FROM main.{TABLE}"))?;
    let lacking = format!(
        "SELECT count(*) FROM main.{TABLE} AS old LEFT JOIN backup.{TABLE} AS new \
         ON new.id = old.id WHERE new.json IS NOT old.json"
    );
    let gone = count(&transaction, &lacking)?;
    transaction.execute_batch(&format!(
        "DELETE FROM main.{TABLE};
        INSERT INTO main.{TABLE} (id, json) SELECT id, json FROM backup.{TABLE}"
    ))?;
    if takes_tokens {
        transaction.execute_batch(
            "DELETE FROM main.tokens; INSERT INTO main.tokens SELECT * FROM other.tokens",
        )?;
    }
    let after = count(&transaction, &format!("SELECT count(*) FROM main.{TABLE}"))?;
    if after != count(&transaction, &format!("SELECT count(*) FROM backup.{TABLE}"))? {
        return Err("SQLite has not copied every row of the backup".into());
    }
    let tokens = tokens::tokens(&transaction)?.into_iter().map(|token| token.name).collect();
    transaction.commit()?;
    Ok(Restored { before, gone, after, tokens })
}

fn detach(connection: &Connection) -> rusqlite::Result<()> {
    let names = "SELECT name FROM pragma_database_list WHERE name IN ('backup', 'other')";
    let names: Vec<String> =
        connection.prepare(names)?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    names.iter().try_for_each(|name| connection.execute_batch(&format!("DETACH {name}")))
}

fn count(connection: &Connection, query: &str) -> rusqlite::Result<u64> {
    connection.query_row(query, [], |row| row.get(0)).map(i64::unsigned_abs)
}
