//! Copying to a new file, which is complete or not there.
//!
//! The rows go into a temporary file in the same folder. Only when it is complete, synced and read
//! back, it is renamed to its name, without replacing anything. Nobody serves the file until then,
//! and a process that is killed leaves at most the temporary file.

use std::path::Path;

use anyhow::ensure;
use parking_lot::Mutex;
use rusqlite::Connection;

use crate::Names;
use crate::contents::{Contents, read_all};
use crate::engine::{Engine, Row};
use crate::error::At;
use crate::sqlite::files::{create_temporary, require_free, sync_folder_of};
use crate::sqlite::rows::insert_token;
use crate::sqlite::schema::{create_tables, mark_as_store};
use crate::sqlite::wal::{Access, FLAGS, uri};
use crate::sqlite::{Sqlite, open_to_read, url};
use crate::token::StoredToken;

const WRITE: &str = "write the copy";

/// The schema name of the new file in the connection that fills it.
const COPY: &str = "copy";

/// Chooses the tokens of the copy, after the rows of the source were copied.
pub type ChooseTokens<'a> = &'a dyn Fn(&dyn Engine) -> anyhow::Result<Vec<StoredToken>>;

/// Copies one state of a file to a new file. SQLite itself copies the rows.
pub fn copy_from_file(
    source: &Sqlite,
    to: &Path,
    choose_tokens: ChooseTokens<'_>,
) -> anyhow::Result<(Contents, Vec<StoredToken>)> {
    let Names { table, .. } = source.names;
    copy(source.names, source, &source.reads, to, choose_tokens, || {
        let contents = read_all(source, |_| Ok(()))?;
        // In this form SQLite copies whole records (<https://sqlite.org/lang_vacuum.html> does so).
        let copied = source
            .reads
            .lock()
            .execute(&format!("INSERT INTO {COPY}.{table} SELECT * FROM main.{table}"), []);
        copied.at(url(to), WRITE)?;
        Ok(contents)
    })
}

/// Copies the rows of any store to a new file, page by page.
pub fn copy_from_pages(
    names: &'static Names,
    source: &dyn Engine,
    to: &Path,
    choose_tokens: ChooseTokens<'_>,
) -> anyhow::Result<(Contents, Vec<StoredToken>)> {
    let connection = Connection::open_in_memory_with_flags(FLAGS).at(url(to), WRITE)?;
    let connection = Mutex::new(connection);
    let Names { table, .. } = names;
    copy(names, source, &connection, to, choose_tokens, || {
        let insert = |rows: &[Row]| {
            let connection = connection.lock();
            let mut insert = connection.prepare_cached(&format!(
                "INSERT INTO {COPY}.{table} (id, json) VALUES (?1, ?2)"
            ))?;
            rows.iter().try_for_each(|row| insert.execute((row.id, &*row.json)).map(drop))
        };
        read_all(source, |rows| Ok(insert(rows).at(url(to), WRITE)?))
    })
}

/// Fills a temporary file through `connection`, reads it back, and puts it at `to`.
fn copy(
    names: &'static Names,
    source: &dyn Engine,
    connection: &Mutex<Connection>,
    to: &Path,
    choose_tokens: ChooseTokens<'_>,
    copy_rows: impl FnOnce() -> anyhow::Result<Contents>,
) -> anyhow::Result<(Contents, Vec<StoredToken>)> {
    require_free(to)?;
    let temporary = create_temporary(to)?;
    let execute = |sql: &str| connection.lock().execute_batch(sql).at(url(to), WRITE);
    let sync = || temporary.as_file().sync_all().at(url(to), WRITE);

    let file = uri(temporary.path(), Access::Write);
    let attached = connection.lock().execute(&format!("ATTACH ?1 AS {COPY}"), [file]);
    attached.at(url(to), WRITE)?;
    // Without a journal and syncs: after a failure the file is removed.
    execute(&format!("PRAGMA {COPY}.journal_mode = off; PRAGMA {COPY}.synchronous = off; BEGIN"))?;
    create_tables(&connection.lock(), COPY, names).at(url(to), WRITE)?;
    let contents = copy_rows()?;
    let tokens = choose_tokens(source)?;
    let insert = |token| insert_token(&connection.lock(), COPY, token);
    tokens.iter().try_for_each(insert).at(url(to), WRITE)?;
    execute("COMMIT")?;
    sync()?;
    // Last, so that a temporary file that was left behind is not a store unless it is complete.
    mark_as_store(&connection.lock(), COPY, names).at(url(to), WRITE)?;
    sync()?;
    execute(&format!("DETACH {COPY}"))?;

    let copy = open_to_read(names, temporary.path())?;
    let read_back = read_all(&copy, |_| Ok(()))?;
    ensure!(
        read_back == contents && copy.tokens()? == tokens,
        "the new file has {read_back}, but {contents} were written to it: check the disk"
    );
    drop(copy);
    require_free(to)?;
    let placed = temporary.persist_noclobber(to).map_err(|failure| failure.error);
    placed.at(url(to), "rename the complete copy")?;
    sync_folder_of(to).at(url(to), WRITE)?;
    Ok((contents, tokens))
}
