//! PostgreSQL, and what speaks its protocol: for more servers than one.
//!
//! A commit is durable as the database's own settings say, and they must say enough: see
//! `connector.rs`. Servers share nothing but the database, so any number of them may run on it.
//!
//! Calls block, on a runtime that each session has of its own. None of them may be made on a thread of
//! another runtime.

mod check;
mod connector;
mod error;
mod faults;
mod new_database;
mod pages;
mod password;
mod reconnecting_session;
mod row;
mod schema;
mod session;
mod tls;
mod tokens;
pub mod url;
mod writer;

use std::io;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::store::engine::{
    Contents, NewStore, Pages, ServedStore, Sizes, Start, Store, Tokens, Writer,
};
use crate::store::error::{CommitError, StoreError, failed};
use crate::store::metrics::register_retries;
use crate::store::postgres::connector::{Connector, Purpose};
use crate::store::postgres::error::PostgresError;
use crate::store::postgres::new_database::NewDatabase;
use crate::store::postgres::pages::{LongSession, PostgresPages};
use crate::store::postgres::reconnecting_session::{ReconnectingSession, until, until_read};
use crate::store::postgres::session::Session;
use crate::store::postgres::url::PostgresUrl;
use crate::store::postgres::writer::PostgresWriter;
use crate::store::url::StoreUrl;
use crate::store::version::{VERSION, check_known, check_present, check_readable};
use crate::token::{StoredToken, TokenName};

const OPEN: &str = "open the store";

/// How long the size of the store may keep the tokens waiting.
const SIZES_LIMIT: Duration = Duration::from_millis(200);

/// The largest plant, in bytes of its texts: a batch and its largest plant fit into the gigabyte of
/// one message (<https://www.postgresql.org/docs/current/limits.html>).
pub const LARGEST_PLANT: u64 = 999_999_000;

/// A plant store in a database.
pub struct Postgres {
    url: PostgresUrl,
    connector: Connector,
    purpose: Purpose,
    /// For everything but the plants.
    session: Mutex<ReconnectingSession>,
    start: Start,
    /// This server, among those on the database.
    server: i64,
    /// Whether the database keeps what is committed, as of the last second.
    is_safe: Arc<AtomicBool>,
    /// Whether this server has created the store.
    has_created: AtomicBool,
}

/// See [`crate::store::begin`].
pub fn begin(url: &PostgresUrl) -> Result<Box<dyn NewStore>, StoreError> {
    let connector = connector(url, Purpose::Fill)?;
    let session = ReconnectingSession::new(connector).map_err(failed(OPEN))?;
    Ok(Box::new(NewDatabase::begin(url, session)?))
}

/// See [`crate::store::open`].
pub fn open(url: &PostgresUrl) -> Result<Box<dyn Store>, StoreError> {
    Ok(Box::new(Postgres::open_as(url, check_readable)?))
}

/// See [`crate::store::open_to_serve`]. Does not connect yet.
pub fn open_to_serve(url: &PostgresUrl, start: Start) -> Result<Postgres, StoreError> {
    Postgres::new(url, start, Purpose::Serve { without_fsync: start.without_fsync })
}

fn connector(url: &PostgresUrl, purpose: Purpose) -> Result<Connector, StoreError> {
    let tls = tls::connector(url).map_err(failed("read the certificates to trust"))?;
    Ok(Connector::new(url.clone(), tls, purpose))
}

impl Postgres {
    /// Opens the store in that database, which has the schema of this release.
    pub fn open(url: &PostgresUrl) -> Result<Self, StoreError> {
        Self::open_as(url, check_present)
    }

    fn open_as(
        url: &PostgresUrl,
        check_version: fn(u32, &StoreUrl) -> Result<(), StoreError>,
    ) -> Result<Self, StoreError> {
        let store = Self::new(url, Start::default(), Purpose::Read)?;
        let (found, backend) = store.ask(OPEN, async |session| {
            Ok((schema::version(session).await?, session.backend().await?))
        })?;
        store.session().refuse_pooler(backend).map_err(store.error(OPEN))?;
        let found = found.ok_or_else(|| StoreError::Missing(store.url()))?;
        check_version(found, &store.url())?;
        Ok(store)
    }

    fn new(url: &PostgresUrl, start: Start, purpose: Purpose) -> Result<Self, StoreError> {
        register_retries();
        let connector = connector(url, purpose)?;
        let session = ReconnectingSession::new(connector.clone()).map_err(failed(OPEN))?;
        Ok(Self {
            url: url.clone(),
            connector,
            purpose,
            session: Mutex::new(session),
            start,
            server: rand::random(),
            is_safe: Arc::new(AtomicBool::new(true)),
            has_created: AtomicBool::new(false),
        })
    }

    fn url(&self) -> StoreUrl {
        StoreUrl::Postgres(Box::new(self.url.clone()))
    }

    fn session(&self) -> MutexGuard<'_, ReconnectingSession> {
        // After a panic it is closed, and connects.
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A session of the caller's own.
    fn new_session(&self) -> io::Result<ReconnectingSession> {
        ReconnectingSession::new(self.connector.clone())
    }

    fn error(&self, doing: &'static str) -> impl Fn(PostgresError) -> StoreError {
        let url = self.url();
        move |error| error.of_store(&url, doing)
    }

    /// Reads something; again if a connection was lost meanwhile.
    fn ask<T>(
        &self,
        doing: &'static str,
        read: impl AsyncFnMut(&Session) -> Result<T, PostgresError>,
    ) -> Result<T, StoreError> {
        self.session().retry(until_read(), read).map_err(self.error(doing))
    }

    /// Changes something, once: again only if it was rolled back because of another transaction.
    /// After anything else, what was done cannot be told from what another command did.
    fn change<T>(
        &self,
        doing: &'static str,
        change: impl AsyncFnMut(&Session) -> Result<T, PostgresError>,
    ) -> Result<T, StoreError> {
        let mut session = self.session();
        if self.purpose == Purpose::Read {
            // A command may have read from a standby so far. It has to ask the host to which it writes
            // whether the change is in force.
            session.disconnect();
            let connector = self.connector.with_purpose(Purpose::Write);
            *session = ReconnectingSession::new(connector).map_err(failed(doing))?;
        }
        session.retry_if(PostgresError::was_rolled_back, until(), change).map_err(self.error(doing))
    }

    /// Creates the store, or brings it up to date.
    async fn prepare(&self, session: &Session) -> Result<Result<(), StoreError>, PostgresError> {
        faults::check(session, self.start.without_fsync).await?;
        match schema::version(session).await? {
            Some(VERSION) => return Ok(Ok(())),
            Some(found) => {
                if let Err(newer) = check_known(found, &self.url()) {
                    return Ok(Err(newer));
                }
            }
            None if !self.start.create => return Ok(Err(StoreError::Missing(self.url()))),
            None => {
                if schema::has_table(session, "plants").await?
                    && !schema::has_table(session, "plant_store_schema").await?
                {
                    return Ok(Err(StoreError::NotAPlantStore(self.url())));
                }
            }
        }
        // Of several servers each may meet the others at each table.
        loop {
            match schema::bring_up_to_date(session, &self.has_created).await {
                Err(error) if schema::is_a_race(&error) => {}
                done => return done.map(Ok),
            }
        }
    }
}

impl Contents for Postgres {
    fn count(&self) -> Result<u64, StoreError> {
        const COUNT: &str = "count the plants";
        let session = self.new_session().map_err(failed(COUNT))?;
        LongSession::connect(session)
            .and_then(|session| pages::count(&session))
            .map_err(self.error(COUNT))
    }

    fn plants(&self) -> Result<Pages<'_>, StoreError> {
        const READ: &str = "read the plants";
        let session = self.new_session().map_err(failed(READ))?;
        let pages = PostgresPages::open(session).map_err(self.error(READ))?;
        Ok(Box::new(pages.map(|page| page.map_err(self.error(READ)))))
    }

    fn tokens(&self) -> Result<Vec<StoredToken>, StoreError> {
        self.ask("read the tokens", async |session| tokens::all(session).await)
    }
}

impl Tokens for Postgres {
    fn add_token(&self, token: &StoredToken) -> Result<(), StoreError> {
        let add = async |session: &Session| tokens::add(session, token).await;
        match self.change("store the token", add)? {
            true => Ok(()),
            false => Err(StoreError::TokenNameTaken(token.name.clone())),
        }
    }

    fn revoke_token(&self, name: &TokenName) -> Result<(), StoreError> {
        let revoke = async |session: &Session| tokens::revoke(session, name).await;
        match self.change("revoke the token", revoke)? {
            true => Ok(()),
            false => Err(StoreError::NoSuchToken(name.clone())),
        }
    }

    fn are_tokens_in_force(&self) -> Result<bool, StoreError> {
        self.ask("read the tokens", async |session| tokens::are_confirmed(session).await)
    }
}

impl Store for Postgres {
    fn check(&self) -> Result<Vec<String>, StoreError> {
        self.ask("check the store", async |session| check::faults(session).await)
    }

    fn sizes(&self) -> Result<Sizes, StoreError> {
        self.ask("measure the store", async |session| check::sizes(session).await)
    }
}

impl ServedStore for Postgres {
    fn set_up(&self) -> Result<bool, StoreError> {
        const SET_UP: &str = "set up the store";
        let guard = self.session();
        let connect = async |connector: &Connector| connector.connect_to_any().await;
        let session = guard.connect(until(), connect).map_err(self.error(SET_UP))?;
        let prepared = guard
            .within(&session, until(), session.backend())
            .and_then(|backend| guard.refuse_pooler(backend))
            .and_then(|()| guard.within(&session, until(), self.prepare(&session)));
        guard.close(session);
        prepared.map_err(self.error(SET_UP))??;
        Ok(self.has_created.load(Relaxed))
    }

    fn writer(&self) -> Result<Box<dyn Writer>, StoreError> {
        let session = self.new_session().map_err(failed("open the store for writing"))?;
        Ok(Box::new(PostgresWriter::new(session, self.server, Arc::clone(&self.is_safe))))
    }

    /// Looks for what has changed since the sessions were opened. This session may see another server
    /// than the writer's; after a failover both are connected again.
    fn tend(&self) -> Result<Sizes, CommitError> {
        let mut session = self.session();
        let check =
            async |session: &Session| faults::check(session, self.start.without_fsync).await;
        let checked = session.retry(until_read(), check);
        if let Ok(()) | Err(PostgresError::Unsafe(_)) = checked {
            self.is_safe.store(checked.is_ok(), Relaxed);
        }
        checked?;
        // Waits while the table is locked, such as when it is altered. The tokens must not wait too.
        let until = Instant::now() + SIZES_LIMIT;
        let sizes = session.run(until, async |session| check::sizes(session).await);
        Ok(sizes.unwrap_or_default())
    }

    fn token_changes(&self) -> Result<u32, StoreError> {
        self.ask("read the tokens", async |session| tokens::changes(session).await)
    }

    fn confirm_tokens(&self, changes: u32) -> Result<(), StoreError> {
        let confirm =
            async |session: &Session| tokens::confirm(session, self.server, changes).await;
        self.ask("confirm the tokens", confirm)
    }

    fn tokens_hold_for(&self) -> Option<Duration> {
        Some(tokens::GONE_AFTER)
    }
}
