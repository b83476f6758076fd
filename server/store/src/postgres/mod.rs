//! PostgreSQL, and what speaks its protocol: for more servers than one.
//!
//! A commit is durable as the database's own settings say, and they must say enough: see
//! `schema.rs`. Servers share nothing but the database, so any number of them may run on it.
//!
//! Calls block, on a runtime that each session has of its own. None of them may be made on a thread
//! of another runtime.

mod connector;
mod error;
mod reconnecting_session;
mod rows;
mod schema;
mod session;
mod tls;
mod tokens;
pub mod url;

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context;
use parking_lot::Mutex;

use crate::engine::{Checked, Closed, Engine, IfMissing, Outcome, Row, Served, Sizes};
use crate::error::{Reason, StoreError, WriteError};
use crate::layout::{LAYOUT, UNFINISHED};
use crate::metrics::register_retries;
use crate::postgres::connector::{Connector, Purpose};
use crate::postgres::error::PostgresError;
use crate::postgres::reconnecting_session::ReconnectingSession;
use crate::postgres::session::Session;
use crate::postgres::url::PostgresUrl;
use crate::token::{StoredToken, TokenName};
use crate::url::StoreUrl;

const OPEN: &str = "open the store";
const MAKE: &str = "make the store";

/// How long a call may take that changes tokens or tables.
const CHANGE_LIMIT: Duration = Duration::from_secs(5);

/// How long a call may take that only reads: a server notices soon that its database is gone.
const READ_LIMIT: Duration = Duration::from_secs(2);

/// How long a page may take: `export` and `copy` wait for a lock or a restart.
const PAGE_LIMIT: Duration = Duration::from_mins(1);

/// How long the size of the store may keep the tokens waiting.
const SIZES_LIMIT: Duration = Duration::from_millis(200);

/// A store in a database.
pub struct Postgres {
    url: StoreUrl,
    purpose: Purpose,
    /// For what is written.
    write_session: Mutex<ReconnectingSession>,
    /// For pages of rows. While a table is locked they wait, and the tokens must not. A server
    /// reads none, so it has no such session.
    page_session: Mutex<ReconnectingSession>,
    /// For all else.
    read_session: Mutex<ReconnectingSession>,
}

/// See [`crate::open_to_serve`].
pub fn open_to_serve(
    url: &PostgresUrl,
    ca: Option<&Path>,
    if_missing: IfMissing,
) -> Result<Served<Postgres>, StoreError> {
    let store = Postgres::new(url, ca, Purpose::WriteSafely)?;
    if store.change(OPEN, async |session| schema::is_there(session, &store.url).await)? {
        return Ok(Served { store, is_new: false });
    }
    if if_missing == IfMissing::Fail {
        return Err(StoreError::Missing(store.url));
    }
    let is_new = store.create_tables(LAYOUT)?;
    Ok(Served { store, is_new })
}

/// See [`crate::open`].
pub fn open(url: &PostgresUrl, ca: Option<&Path>) -> Result<Postgres, StoreError> {
    let store = Postgres::new(url, ca, Purpose::Read)?;
    let is_there = async |session: &Session| schema::is_there(session, &store.url).await;
    if store.read(OPEN, READ_LIMIT, is_there)? {
        Ok(store)
    } else {
        Err(StoreError::Missing(store.url))
    }
}

/// See [`crate::fill`]. Until its end no command but another fill uses the store, if this has made
/// it.
pub fn fill(
    url: &PostgresUrl,
    ca: Option<&Path>,
    fill: &mut dyn FnMut(&dyn Engine) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let store = Postgres::new(url, ca, Purpose::WriteSafely)?;
    let is_there = async |session: &Session| schema::is_there(session, &store.url).await;
    let is_made = match store.change(OPEN, is_there) {
        Err(StoreError::CopyUnfinished(_)) => false,
        is_made => is_made?,
    };
    if !is_made {
        store.create_tables(UNFINISHED)?;
    }
    fill(&store).context("what was copied before this stays in the database")?;
    if !is_made {
        store.create_tables(LAYOUT)?;
    }
    Ok(store.close().map(drop)?)
}

impl Postgres {
    /// Connects at the first call. A command that reads may do so on a standby.
    fn new(url: &PostgresUrl, ca: Option<&Path>, purpose: Purpose) -> Result<Self, StoreError> {
        register_retries();
        let name = StoreUrl::Postgres(url.clone());
        let failed = |doing| {
            let url = name.clone();
            move |cause| StoreError::Failed { url, doing, cause, reason: Reason::Other }
        };
        let to_read = Connector::new(url, ca, purpose)
            .map_err(failed("read the certificates of its authority"))?;
        let mut to_write = to_read.clone();
        to_write.purpose = purpose.max(Purpose::Write);
        let session =
            |connector| ReconnectingSession::new(connector).map(Mutex::new).map_err(failed(OPEN));
        Ok(Self {
            purpose,
            write_session: session(to_write)?,
            page_session: session(to_read.clone())?,
            read_session: session(to_read)?,
            url: name,
        })
    }

    /// Reads something; again if a connection was lost meanwhile.
    fn read<T>(
        &self,
        doing: &'static str,
        limit: Duration,
        read: impl AsyncFnMut(&Session) -> Result<T, PostgresError>,
    ) -> Result<T, StoreError> {
        let until = Instant::now() + limit;
        let read = self.read_session.lock().retry(PostgresError::passes_soon, until, read);
        read.map_err(|error| error.of_store(&self.url, doing))
    }

    /// Changes something, once: again only if it was rolled back because of another transaction.
    /// After anything else, what was done cannot be told from what another command did.
    fn change<T>(
        &self,
        doing: &'static str,
        change: impl AsyncFnMut(&Session) -> Result<T, PostgresError>,
    ) -> Result<T, StoreError> {
        let until = Instant::now() + CHANGE_LIMIT;
        let changed =
            self.write_session.lock().retry(PostgresError::was_rolled_back, until, change);
        changed.map_err(|error| error.of_store(&self.url, doing))
    }

    /// See [`schema::create_tables`].
    fn create_tables(&self, layout: u8) -> Result<bool, StoreError> {
        let create = async |session: &Session| schema::create_tables(session, layout).await;
        self.change(MAKE, create)
    }

    /// Waits while the table is locked, such as when it is altered. The tokens must not wait too.
    fn sizes(&self) -> Sizes {
        let sizes = self.read_session.lock().run(Instant::now() + SIZES_LIMIT, schema::sizes);
        sizes.unwrap_or_default()
    }
}

impl Engine for Postgres {
    fn commit(&self, rows: &[Row], until: Instant) -> Result<Vec<Outcome>, WriteError> {
        // Safe to repeat if the answer to a commit was lost: the same rows are there then.
        let commit = async |session: &Session| rows::commit(session, rows).await;
        Ok(self.write_session.lock().retry(PostgresError::passes_soon, until, commit)?)
    }

    fn page(&self, after: Option<i64>, limit: usize) -> Result<Vec<Row>, StoreError> {
        let page = async |session: &Session| rows::page(session, after, limit).await;
        let until = Instant::now() + PAGE_LIMIT;
        let page = self.page_session.lock().retry(PostgresError::passes_soon, until, page);
        page.map_err(|error| error.of_store(&self.url, "read the rows"))
    }

    fn count(&self) -> Result<u64, StoreError> {
        let until = Instant::now() + PAGE_LIMIT;
        let mut session = self.page_session.lock();
        let count = session.retry(PostgresError::passes_soon, until, rows::count);
        count.map_err(|error| error.of_store(&self.url, "count the rows"))
    }

    fn tokens(&self) -> Result<Vec<StoredToken>, StoreError> {
        self.read("read the tokens", READ_LIMIT, tokens::tokens)
    }

    fn add_token(&self, token: &StoredToken) -> Result<(), StoreError> {
        let add = async |session: &Session| tokens::add_token(session, token).await;
        if self.change("store the token", add)? {
            Ok(())
        } else {
            let name = token.name.clone();
            Err(StoreError::TokenNameTaken { name, url: self.url.clone() })
        }
    }

    fn revoke_token(&self, name: &TokenName) -> Result<(), StoreError> {
        let revoke = async |session: &Session| tokens::revoke_token(session, name).await;
        if self.change("revoke the token", revoke)? {
            Ok(())
        } else {
            Err(StoreError::NoSuchToken(name.clone()))
        }
    }

    fn check(&self) -> Result<Checked, StoreError> {
        let faults = self.read("check the store", READ_LIMIT, async |session| {
            let mut faults = schema::unsafe_settings(session).await?;
            faults.extend(schema::faults_of_tables(session).await?);
            Ok(faults)
        })?;
        Ok(Checked { faults, sizes: self.sizes() })
    }

    /// Looks at the settings of the database. This session may see another host than the one that
    /// writes; after a failover both are connected again.
    fn inspect(&self) -> Result<Sizes, WriteError> {
        if self.purpose != Purpose::WriteSafely {
            return Ok(self.sizes());
        }
        let until = Instant::now() + READ_LIMIT;
        let mut session = self.read_session.lock();
        let checked = session.retry(PostgresError::passes_soon, until, schema::refuse_unsafe);
        drop(session);
        if let Err(PostgresError::Unsafe(_)) = checked {
            // The next commit connects again, and is refused as long as this lasts.
            self.write_session.lock().disconnect();
        }
        checked?;
        Ok(self.sizes())
    }

    /// Everything is in the database already.
    fn close(&self) -> Result<Closed, StoreError> {
        for session in [&self.write_session, &self.page_session, &self.read_session] {
            session.lock().disconnect();
        }
        Ok(Closed::Wholly)
    }
}

#[cfg(test)]
mod tests;
