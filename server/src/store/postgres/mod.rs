//! PostgreSQL, and what speaks its protocol: for more servers than one.
//!
//! A commit is durable as the database's own settings say, and they must say enough: see
//! `connector.rs`. Servers share nothing but the database, so any number of them may run on it.
//!
//! Calls block, on a runtime of each link's own. None of them may be made on a thread of another
//! runtime.

mod check;
mod connector;
mod error;
mod link;
mod new_database;
mod pages;
mod password;
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
    CommitError, Contents, Engine, NewStore, Pages, Sizes, Start, StoreError, Writer,
};
use crate::store::metrics::DatabaseMetrics;
use crate::store::postgres::connector::{Connector, Purpose};
use crate::store::postgres::error::PostgresError;
use crate::store::postgres::link::{Link, until, until_read};
use crate::store::postgres::new_database::NewDatabase;
use crate::store::postgres::pages::{Open, PostgresPages};
use crate::store::postgres::session::Session;
use crate::store::postgres::tokens::Changed;
use crate::store::postgres::url::PostgresUrl;
use crate::store::postgres::writer::PostgresWriter;
use crate::store::url::StoreUrl;
use crate::token::{StoredToken, TokenName};

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
    link: Mutex<Link>,
    start: Start,
    /// This server, among those on the database.
    server: i64,
    /// Whether the database syncs, as of the last second.
    is_durable: Arc<AtomicBool>,
    /// Whether this server has created the store.
    has_created: AtomicBool,
    metrics: DatabaseMetrics,
}

/// See [`crate::store::begin`].
pub fn begin(url: &PostgresUrl) -> Result<Box<dyn NewStore>, StoreError> {
    let link =
        Link::new(connector(url, Purpose::Fill)?).map_err(error::failed("open the store"))?;
    Ok(Box::new(NewDatabase::begin(url, link)?))
}

/// See [`crate::store::serve`]. Does not connect yet.
pub fn serve(url: &PostgresUrl, start: Start) -> Result<Postgres, StoreError> {
    Postgres::new(url, start, Purpose::Serve { without_fsync: start.without_fsync })
}

fn connector(url: &PostgresUrl, purpose: Purpose) -> Result<Connector, StoreError> {
    let tls = tls::connector(url).map_err(error::failed("read the certificates to trust"))?;
    Ok(Connector::new(url.clone(), tls, purpose))
}

impl Postgres {
    /// Opens the store in that database, which has the schema of this release.
    pub fn open(url: &PostgresUrl) -> Result<Self, StoreError> {
        let store = Self::new(url, Start::default(), Purpose::Read)?;
        let found = store.ask("open the store", async |session| schema::version(session).await)?;
        let (url, needed) = (store.url(), schema::VERSION);
        match found {
            None => Err(StoreError::Missing(url)),
            Some(found) if found < needed => Err(StoreError::OlderSchema { url, found, needed }),
            Some(found) if found > needed => {
                Err(StoreError::NewerSchema { url, found, known: needed })
            }
            Some(_) => Ok(store),
        }
    }

    fn new(url: &PostgresUrl, start: Start, purpose: Purpose) -> Result<Self, StoreError> {
        let connector = connector(url, purpose)?;
        let link = Link::new(connector.clone()).map_err(error::failed("open the store"))?;
        Ok(Self {
            url: url.clone(),
            connector,
            purpose,
            link: Mutex::new(link),
            start,
            server: rand::random(),
            is_durable: Arc::new(AtomicBool::new(true)),
            has_created: AtomicBool::new(false),
            metrics: DatabaseMetrics::register(),
        })
    }

    fn url(&self) -> StoreUrl {
        StoreUrl::Postgres(Box::new(self.url.clone()))
    }

    fn link(&self) -> MutexGuard<'_, Link> {
        // After a panic the link has no session, and connects.
        self.link.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A link of the caller's own.
    fn new_link(&self) -> io::Result<Link> {
        Link::new(self.connector.clone())
    }

    fn error(&self, doing: &'static str) -> impl Fn(PostgresError) -> StoreError {
        let url = self.url();
        move |error| error.of_store(&url, doing)
    }

    /// Reads something; again, where a connection was lost meanwhile.
    fn ask<T>(
        &self,
        doing: &'static str,
        read: impl AsyncFnMut(&Session) -> Result<T, PostgresError>,
    ) -> Result<T, StoreError> {
        self.link().retry(until_read(), read).map_err(self.error(doing))
    }

    /// Changes something, once: again only where it was rolled back because of another transaction.
    /// After anything else, what was done cannot be told from what another command did.
    fn change<T>(
        &self,
        doing: &'static str,
        change: impl AsyncFnMut(&Session) -> Result<T, PostgresError>,
    ) -> Result<T, StoreError> {
        let change = |link: &mut Link| {
            link.retry_if(PostgresError::was_rolled_back, until(), change)
                .map_err(self.error(doing))
        };
        if let Purpose::Serve { .. } = self.purpose {
            return change(&mut self.link());
        }
        // A command may have read from a standby so far.
        let link = Link::new(self.connector.with_purpose(Purpose::Write));
        change(&mut link.map_err(error::failed(doing))?)
    }

    /// Creates the store, or brings it up to date.
    async fn prepare(&self, session: &Session) -> Result<Result<(), StoreError>, PostgresError> {
        if !self.start.without_fsync {
            session.check_durability().await?;
        }
        let url = || self.url();
        match schema::version(session).await? {
            Some(schema::VERSION) => return Ok(Ok(())),
            Some(found) if found > schema::VERSION => {
                let known = schema::VERSION;
                return Ok(Err(StoreError::NewerSchema { url: url(), found, known }));
            }
            Some(_) => {}
            None if !self.start.create => return Ok(Err(StoreError::Missing(url()))),
            None => {
                if schema::has_table(session, "plants").await?
                    && !schema::has_table(session, "plant_store_schema").await?
                {
                    return Ok(Err(StoreError::NotAPlantStore(url())));
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
        let link = self.new_link().map_err(error::failed(COUNT))?;
        Open::connect(link).and_then(|open| pages::count(&open)).map_err(self.error(COUNT))
    }

    fn plants(&self) -> Result<Pages<'_>, StoreError> {
        const READ: &str = "read the plants";
        let link = self.new_link().map_err(error::failed(READ))?;
        let pages = PostgresPages::open(link).map_err(self.error(READ))?;
        Ok(Box::new(pages.map(|page| page.map_err(self.error(READ)))))
    }

    fn tokens(&self) -> Result<Vec<StoredToken>, StoreError> {
        self.ask("read the tokens", async |session| tokens::all(session).await)
    }
}

impl Engine for Postgres {
    fn set_up(&self) -> Result<bool, StoreError> {
        const SET_UP: &str = "set up the store";
        let link = self.link();
        let connect = async |connector: &Connector| connector.connect_to_any().await;
        let session = link.connect(until(), connect).map_err(self.error(SET_UP))?;
        let prepared = link.within(&session, until(), self.prepare(&session));
        link.close(session);
        prepared.map_err(self.error(SET_UP))??;
        Ok(self.has_created.load(Relaxed))
    }

    fn writer(&self) -> Result<Box<dyn Writer>, StoreError> {
        let link = self.new_link().map_err(error::failed("open the store for writing"))?;
        Ok(Box::new(PostgresWriter::new(link, self.server, Arc::clone(&self.is_durable))))
    }

    /// Asks for the settings that a reload can change, on a session that need not see the same
    /// server as the writer's: after a failover both are connected again.
    fn tend(&self) -> Result<Sizes, CommitError> {
        let mut link = self.link();
        let asked = link.retry(until_read(), async |session| {
            let started = Instant::now();
            match self.start.without_fsync {
                true => session.ping().await?,
                false => session.check_durability().await?,
            }
            self.metrics.round_trip(started.elapsed());
            Ok(())
        });
        match asked {
            Ok(()) => self.is_durable.store(true, Relaxed),
            Err(PostgresError::NotDurable(_)) => self.is_durable.store(false, Relaxed),
            // Not known.
            Err(_) => {}
        }
        asked?;
        // Waits where the table is locked, as while it is altered. The tokens must not wait too.
        let sizes =
            link.run(Instant::now() + SIZES_LIMIT, async |session| check::sizes(session).await);
        Ok(sizes.unwrap_or(Sizes { store: None, log: None }))
    }

    fn check(&self) -> Result<Vec<String>, StoreError> {
        self.ask("check the store", async |session| check::faults(session).await)
    }

    fn sizes(&self) -> Result<Sizes, StoreError> {
        self.ask("measure the store", async |session| check::sizes(session).await)
    }

    fn token_changes(&self) -> Result<u32, StoreError> {
        self.ask("read the tokens", async |session| tokens::changes(session).await)
    }

    fn add_token(&self, token: &StoredToken) -> Result<(), StoreError> {
        let add = async |session: &Session| tokens::add(session, token).await;
        match self.change("store the token", add)? {
            Changed::Done => Ok(()),
            Changed::Not => Err(StoreError::TokenNameTaken(token.name.clone())),
        }
    }

    fn revoke_token(&self, name: &TokenName) -> Result<(), StoreError> {
        let revoke = async |session: &Session| tokens::revoke(session, name).await;
        match self.change("revoke the token", revoke)? {
            Changed::Done => Ok(()),
            Changed::Not => Err(StoreError::NoSuchToken(name.clone())),
        }
    }

    /// It has read none so far.
    fn join(&self) -> Result<(), StoreError> {
        self.confirm_tokens(0)
    }

    fn confirm_tokens(&self, changes: u32) -> Result<(), StoreError> {
        let confirm =
            async |session: &Session| tokens::confirm(session, self.server, changes).await;
        self.ask("confirm the tokens", confirm)
    }

    fn are_tokens_in_force(&self) -> Result<bool, StoreError> {
        self.ask("read the tokens", async |session| tokens::are_confirmed(session).await)
    }
}
