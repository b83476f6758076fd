//! Restore: the rows of a backup replace the rows of a store, in one SQLite transaction.
//!
//! A restore never changes the backup and never moves a file. Whatever interrupts it, the store has
//! either its old rows or the rows of the backup, and the same restore may be run again. If there
//! was no store, the transaction also creates the store.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rusqlite::Connection;

use crate::engine::{Engine, IfMissing};
use crate::error::{Cause, StoreError};
use crate::names::TABLE;
use crate::sqlite::error::{Unsound, failed};
use crate::sqlite::files::files_beside;
use crate::sqlite::open::open_locked;
use crate::sqlite::{schema, tokens};
use crate::token::TokenName;

const READ_BACKUP: &str = "read the backup";
const READ_TOKENS: &str = "read its tokens";
const RESTORE: &str = "restore the backup";

/// The result of a restore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// The number of rows in the store before the restore.
    pub before: u64,
    /// The number of those rows that the backup lacks, or has with a different text.
    pub gone: u64,
    /// The number of rows in the store now, which is the number of rows in the backup.
    pub after: u64,
    /// The names of the tokens that the store has now.
    pub tokens: Vec<TokenName>,
}

/// Replaces the rows of the store at `path` with the rows of `backup`.
///
/// The store keeps its tokens, unless `tokens_of` names the file of another store: then it gets the
/// tokens of that file. If there is no store, one is created, which needs `tokens_of`.
///
/// # Errors
///
/// [`StoreError::Missing`] if there is no store and `tokens_of` is `None`, and
/// [`StoreError::ServedElsewhere`] if a server is running on the store. After an error the store is
/// unchanged.
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
    let mut store = open_locked(path, if_missing)?;
    let is_new = schema::is_empty(store.connection()).map_err(failed(path, RESTORE))?;
    if !is_new {
        store.prepare_to_serve()?;
    }
    let restored = restore_into(store.connection(), is_new, path, backup, tokens_of);
    // Detached before the store is closed: closing runs a checkpoint, which must not change the WAL
    // of an attached file.
    let detached = detach(store.connection()).map_err(failed(path, RESTORE));
    let closed = store.close();
    let restored = restored?;
    detached?;
    closed?;
    Ok(restored)
}

fn restore_into(
    connection: &mut Connection,
    is_new: bool,
    path: &Path,
    backup: &Path,
    tokens_of: Option<&Path>,
) -> Result<Restored, StoreError> {
    require_another_file(path, backup)?;
    if !is_new {
        let damage = schema::faults(connection, "main").map_err(failed(path, RESTORE))?;
        require_none(damage).map_err(failed(path, RESTORE))?;
    }
    attach_backup(connection, backup).map_err(failed(backup, READ_BACKUP))?;
    if let Some(file) = tokens_of {
        attach_tokens(connection, file).map_err(failed(file, READ_TOKENS))?;
    }
    replace(connection, is_new, tokens_of.is_some()).map_err(failed(path, RESTORE))
}

fn require_store(file: &Path, doing: &'static str) -> Result<(), StoreError> {
    schema::require_store(file, &File::open(file).map_err(failed(file, doing))?)
}

/// Fails if the backup is the store itself.
fn require_another_file(path: &Path, backup: &Path) -> Result<(), StoreError> {
    let id = |file: &Path| fs::metadata(file).map(|file| (file.dev(), file.ino()));
    match (id(path), id(backup)) {
        (Ok(store), Ok(backup)) if store != backup => Ok(()),
        _ => Err(failed(backup, READ_BACKUP)("it is the store that is being restored")),
    }
}

/// Attaches the file of another store for reading. If it has no WAL, index or journal beside it, no
/// process has it open, and SQLite may treat it as immutable, which also works on a read-only disk
/// (<https://sqlite.org/c3ref/open.html#coreuriqueryparameters>).
fn attach(connection: &Connection, file: &Path, name: &str) -> Result<(), Cause> {
    let file = file.canonicalize()?;
    let path = file.to_str().ok_or("its path is not UTF-8")?;
    let escaped = path.replace('%', "%25").replace('#', "%23").replace('?', "%3f");
    let mode = if files_beside(&file).is_empty() { "immutable=1" } else { "mode=ro" };
    connection.execute(&format!("ATTACH ?1 AS {name}"), [format!("file:{escaped}?{mode}")])?;
    Ok(())
}

/// Attaches the backup as `backup`, and checks that it is sound.
fn attach_backup(connection: &Connection, file: &Path) -> Result<(), Cause> {
    attach(connection, file, "backup")?;
    require_none(schema::faults(connection, "backup")?)?;
    let query = format!("SELECT count(*) FROM backup.{TABLE} WHERE NOT json_valid(json)");
    match count(connection, &query)? {
        0 => Ok(()),
        malformed => Err(Unsound(vec![format!("rows that are not JSON: {malformed}")]).into()),
    }
}

/// Attaches the file that provides the tokens as `other`. Only its tokens must be sound.
fn attach_tokens(connection: &Connection, file: &Path) -> Result<(), Cause> {
    attach(connection, file, "other")?;
    Ok(require_none(schema::damage(connection, "other.integrity_check(tokens)")?)?)
}

fn require_none(faults: Vec<String>) -> Result<(), Unsound> {
    if faults.is_empty() { Ok(()) } else { Err(Unsound(faults)) }
}

/// Runs the transaction of the restore. The connection waits for the locks of other programs, such
/// as a token command.
fn replace(
    connection: &mut Connection,
    is_new: bool,
    takes_tokens: bool,
) -> Result<Restored, Cause> {
    let transaction = connection.transaction()?;
    if is_new {
        schema::create_tables(&transaction)?;
        schema::mark_as_store(&transaction)?;
    }
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
        return Err("SQLite did not copy every row of the backup".into());
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
