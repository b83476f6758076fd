//! The stores of the benchmark: where they lie, and how one with many plants is made.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;

use anyhow::{Context, Result};
use plant_store_server::token;
use plant_store_store::token::TokenName;
use plant_store_store::{self as store, StoreUrl};
use rusqlite::{Connection, params};
use serde_json::json;
use tempfile::TempDir;

use crate::plants::{NAME, Order, TAG};

const FILE: &str = "plant-store.db";
/// The file with an accepted token, beside the store.
pub const TOKEN: &str = "token";

/// A store that holds the first `plants` plants.
pub struct Filled {
    folder: TempDir,
    pub order: Order,
    pub plants: u32,
}

impl Filled {
    /// Inserts the plants one by one in their order, as the service does, so that the pages of the
    /// file are as full. One transaction and a large page cache keep this to seconds.
    pub fn new(order: Order, plants: u32) -> Result<Self> {
        let folder = scratch()?;
        let path = folder.path().join(FILE);
        let url = StoreUrl::Sqlite(path.clone());
        let issued = token::issue(TokenName::first(), None);
        store::fill(&url, None, &mut |new| Ok(new.add_token(&issued.stored)?))?;
        fs::write(folder.path().join(TOKEN), issued.token.reveal())?;
        let mut connection = Connection::open(path)?;
        connection.pragma_update(None, "cache_size", -4 * 1024 * 1024)?;
        let transaction = connection.transaction()?;
        let mut insert = transaction.prepare("INSERT INTO plants (id, plant) VALUES (?1, ?2)")?;
        let plant = json!({ "name": NAME, "tag": TAG }).to_string();
        for n in 0..plants {
            insert.execute(params![order.id(n.into()), plant])?;
        }
        drop(insert);
        transaction.commit()?;
        connection.close().map_err(|(_, error)| error)?;
        Ok(Self { folder, order, plants })
    }

    /// Copies the store and syncs the copy, so that no measured fsync has to write it. It writes
    /// one page at a time, as SQLite does: the kernel may cache a large write as one large folio,
    /// on which a change of one page costs more.
    pub fn copy_to(&self, folder: &Path) -> Result<()> {
        for name in [FILE, TOKEN] {
            let mut original = File::open(self.folder.path().join(name))?;
            let mut copy = File::create(folder.join(name))?;
            let mut page = Vec::with_capacity(4096);
            while Read::by_ref(&mut original).take(4096).read_to_end(&mut page)? > 0 {
                copy.write_all(&page)?;
                page.clear();
            }
            copy.sync_all()?;
        }
        Ok(())
    }

    /// The size of the store's file.
    pub fn bytes(&self) -> Result<f64> {
        let bytes = self.folder.path().join(FILE).metadata()?.len();
        #[expect(clippy::cast_precision_loss, reason = "no file is that large")]
        Ok(bytes as f64)
    }
}

/// A folder on the disk that holds the build. `/tmp` may be in memory, where fsync costs nothing.
pub fn scratch() -> Result<TempDir> {
    let parent = std::env::current_exe()?.with_file_name("stores-of-the-benchmark");
    fs::create_dir_all(&parent)?;
    tempfile::tempdir_in(parent).context("cannot make a folder for the stores")
}
