//! Copying to a new file, which is complete or not there.
//!
//! The rows go into a temporary file in the same folder. Only when it is complete, synced and read
//! back, it is renamed to its name, without replacing anything. Nobody serves the file until then,
//! and a process that is killed leaves at most the temporary file.

use std::path::Path;

use anyhow::ensure;
use rusqlite::Connection;

use crate::Names;
use crate::contents::{Contents, read_all};
use crate::engine::{Engine, Row};
use crate::error::At;
use crate::sqlite::files::{create_temporary, require_free, sync_folder_of};
use crate::sqlite::open::open_to_read;
use crate::sqlite::rows::add_token;
use crate::sqlite::schema::{create_tables, mark_as_store};
use crate::sqlite::url;
use crate::sqlite::wal::{FLAGS, uri};
use crate::token::StoredToken;

const WRITE: &str = "write the copy";

/// Copies the rows of a store to a new file at `to`, and adds the tokens.
pub fn copy(
    names: &'static Names,
    source: &dyn Engine,
    to: &Path,
    tokens: &[StoredToken],
) -> anyhow::Result<Contents> {
    require_free(to)?;
    let temporary = create_temporary(to)?;
    let new = Connection::open_with_flags(uri(temporary.path()), FLAGS);
    let new = new.at(url(to), WRITE)?;
    let execute = |sql| new.execute_batch(sql).at(url(to), WRITE);
    let sync = || temporary.as_file().sync_all().at(url(to), WRITE);

    // Without a journal and syncs: after a failure the file is removed.
    execute("PRAGMA journal_mode = off; PRAGMA synchronous = off; BEGIN")?;
    create_tables(&new, names).at(url(to), WRITE)?;
    let insert = |rows: &[Row]| {
        let insert = format!("INSERT INTO {} (id, json) VALUES (?1, ?2)", names.table);
        let mut insert = new.prepare_cached(&insert)?;
        rows.iter().try_for_each(|row| insert.execute((row.id, &*row.json)).map(drop))
    };
    let contents = read_all(source, |rows| Ok(insert(rows).at(url(to), WRITE)?))?;
    tokens.iter().try_for_each(|token| add_token(&new, token)).at(url(to), WRITE)?;
    execute("COMMIT")?;
    sync()?;
    // Last, so that a temporary file that was left behind is not a store unless it is complete.
    mark_as_store(&new, names).at(url(to), WRITE)?;
    sync()?;
    drop(new);

    let copy = open_to_read(names, temporary.path())?;
    let read_back = read_all(&copy, |_| Ok(()))?;
    ensure!(
        read_back == contents,
        "the new file has {read_back}, but {contents} were written to it: check the disk"
    );
    ensure!(
        copy.tokens()? == tokens,
        "the new file has other tokens than those that were written to it: check the disk"
    );
    drop(copy);
    require_free(to)?;
    let placed = temporary.persist_noclobber(to).map_err(|failure| failure.error);
    placed.at(url(to), "rename the complete copy")?;
    sync_folder_of(to).at(url(to), WRITE)?;
    Ok(contents)
}
