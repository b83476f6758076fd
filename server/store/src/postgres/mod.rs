//! PostgreSQL and engines that speak its protocol, for deployments with several servers.
//!
//! The database's settings decide how durable a commit is, and unsafe settings are refused: see
//! `schema.rs`. Servers share nothing but the database, so any number of servers may run on it.
//!
//! Calls block: each session has a runtime of its own. None of these calls may be made in an
//! asynchronous context.

mod connector;
mod error;
mod rows;
mod schema;
mod session;

use std::path::Path;
use std::slice;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::Names;
use crate::engine::{Engine, LAYOUT, Mode, Opened, Outcome, Row};
use crate::error::{At, Error, Kind};
use crate::postgres::connector::{Connector, Purpose};
use crate::postgres::error::Failure;
use crate::postgres::schema::UNFINISHED;
use crate::postgres::session::{ReconnectingSession, Session};
use crate::token::{StoredToken, TokenName};
use crate::url::StoreUrl;

pub use connector::PostgresUrl;

const OPEN: &str = "open the store";
const READ_ROWS: &str = "read the rows";
const CREATE: &str = "create the store";

/// The timeout of a call that changes tokens or tables.
const CHANGE_TIMEOUT: Duration = Duration::from_secs(5);

/// The timeout of a call that only reads. It is short, so that a server soon notices that its
/// database is gone.
const READ_TIMEOUT: Duration = Duration::from_secs(2);

/// The timeout of a read of the tokens, which is shorter than their lease, so that a server knows
/// why it cannot read the tokens before it has to refuse requests. It is also the timeout of an
/// inspection, because creates wait behind it.
const TOKENS_TIMEOUT: Duration = Duration::from_millis(750);

/// The timeout of a page. It is long, so that `export` and `copy` outlast a lock or a restart.
const PAGE_TIMEOUT: Duration = Duration::from_mins(1);

/// A store in a database.
pub struct Postgres {
    url: StoreUrl,
    /// Writes rows and tokens.
    write_session: Mutex<ReconnectingSession>,
    /// Reads rows. They wait while a table is locked, but the tokens must not wait. The first read
    /// opens this session.
    page_session: Mutex<ReconnectingSession>,
    /// Reads everything else.
    read_session: Mutex<ReconnectingSession>,
}

/// See [`crate::open`].
pub fn open(
    names: &'static Names,
    url: &PostgresUrl,
    ca: Option<&Path>,
    mode: Mode,
) -> Result<Opened, Error> {
    let is_served = matches!(mode, Mode::Serve | Mode::ServeOrCreate);
    // A command also reads on a standby. It connects to the primary only to change the tokens.
    let purpose = if is_served { Purpose::Write } else { Purpose::Read };
    let store = Postgres::new(names, url, ca, purpose)?;
    let is_there = if is_served {
        store.change(OPEN, schema::contains_store)?
    } else {
        store.read(&store.read_session, OPEN, READ_TIMEOUT, schema::contains_store)?
    };
    let is_new = match (is_there, mode) {
        (true, _) => false,
        (false, Mode::ServeOrCreate) => store.create(LAYOUT)?,
        (false, _) => return Err(Error::missing(store.url)),
    };
    Ok(Opened { store: Arc::new(store), is_new })
}

/// A database that a copy fills.
pub struct Target {
    /// The store.
    pub store: Postgres,
    /// Whether the database contained a store before. Otherwise only another copy can use it until
    /// [`Target::finish`].
    pub was_store: bool,
}

impl Target {
    /// Opens a database, and creates the tables if they are missing.
    pub fn open(
        names: &'static Names,
        url: &PostgresUrl,
        ca: Option<&Path>,
    ) -> Result<Self, Error> {
        let store = Postgres::new(names, url, ca, Purpose::Write)?;
        let was_store = match store.change(OPEN, schema::contains_store) {
            Err(error) if error.kind == Kind::CopyUnfinished => false,
            is_there => is_there?,
        };
        if !was_store {
            store.create(UNFINISHED)?;
        }
        Ok(Self { store, was_store })
    }

    /// Adds the tokens in one transaction, and makes the database a store.
    pub fn finish(&self, tokens: &[StoredToken]) -> Result<(), Error> {
        self.store.add_tokens(tokens)?;
        if !self.was_store {
            self.store.create(LAYOUT)?;
        }
        Ok(())
    }
}

impl Postgres {
    /// Creates a store that connects on the first call.
    fn new(
        names: &'static Names,
        url: &PostgresUrl,
        ca: Option<&Path>,
        purpose: Purpose,
    ) -> Result<Self, Error> {
        let name = StoreUrl::Postgres(url.clone());
        let to_read = Connector::new(names, url, ca, purpose)
            .at(&name, "read the certificates of its authority")?;
        let mut to_write = to_read.clone();
        to_write.purpose = Purpose::Write;
        let session =
            |connector| ReconnectingSession::new(connector).map(Mutex::new).at(&name, OPEN);
        Ok(Self {
            write_session: session(to_write)?,
            page_session: session(to_read.clone())?,
            read_session: session(to_read)?,
            url: name,
        })
    }

    /// Reads from the database, and retries transient failures such as a lost connection.
    fn read<T>(
        &self,
        session: &Mutex<ReconnectingSession>,
        doing: &'static str,
        limit: Duration,
        read: impl AsyncFnMut(&Session) -> Result<T, Failure>,
    ) -> Result<T, Error> {
        let deadline = Instant::now() + limit;
        let read = session.lock().retry(Failure::is_transient, deadline, read);
        read.map_err(|failure| failure.of_call(&self.url, doing))
    }

    /// Changes tokens or tables. It retries only if the change was rolled back because of another
    /// transaction. After any other failure, the effect of this change could not be told from the
    /// effect of another command.
    fn change<T>(
        &self,
        doing: &'static str,
        change: impl AsyncFnMut(&Session) -> Result<T, Failure>,
    ) -> Result<T, Error> {
        let deadline = Instant::now() + CHANGE_TIMEOUT;
        let changed = self.write_session.lock().retry(Failure::was_rolled_back, deadline, change);
        changed.map_err(|failure| failure.of_call(&self.url, doing))
    }

    fn add_tokens(&self, tokens: &[StoredToken]) -> Result<(), Error> {
        let add = async |session: &Session| rows::add_tokens(session, tokens).await;
        self.change("store the token", add)
    }

    /// Creates what is missing. Returns whether this call stored the layout version.
    fn create(&self, layout: u8) -> Result<bool, Error> {
        self.change(CREATE, async |session| {
            schema::create_tables(session).await?;
            schema::store_version(session, layout).await
        })
    }
}

impl Engine for Postgres {
    fn commit(&self, rows: &[Row], deadline: Instant) -> Result<Vec<Outcome>, Error> {
        // A retry is safe if the answer to a commit was lost: it finds the same rows.
        let commit = async |session: &Session| rows::commit(session, rows).await;
        let committed = self.write_session.lock().retry(Failure::is_transient, deadline, commit);
        committed.map_err(|failure| failure.error)
    }

    fn get(&self, id: i64, deadline: Instant) -> Result<Option<Row>, Error> {
        let limit = deadline.saturating_duration_since(Instant::now());
        let get = async |session: &Session| rows::get(session, id).await;
        self.read(&self.page_session, READ_ROWS, limit, get)
    }

    fn page(&self, after: Option<i64>, limit: usize) -> Result<Vec<Row>, Error> {
        let page = async |session: &Session| rows::page(session, after, limit).await;
        self.read(&self.page_session, READ_ROWS, PAGE_TIMEOUT, page)
    }

    fn count(&self) -> Result<u64, Error> {
        self.read(&self.page_session, "count the rows", PAGE_TIMEOUT, rows::count)
    }

    fn tokens(&self) -> Result<Vec<StoredToken>, Error> {
        self.read(&self.read_session, "read the tokens", TOKENS_TIMEOUT, rows::tokens)
    }

    fn add_token(&self, token: &StoredToken) -> Result<(), Error> {
        self.add_tokens(slice::from_ref(token))
    }

    fn revoke_token(&self, name: &TokenName) -> Result<(), Error> {
        let revoke = async |session: &Session| rows::revoke_token(session, name).await;
        self.change("revoke the token", revoke)
    }

    fn check(&self) -> Result<Vec<String>, Error> {
        self.read(&self.read_session, "check the store", READ_TIMEOUT, schema::unsafe_settings)
    }

    /// Checks the settings of the database. If they are not safe, this closes the session, and the
    /// next commit is refused when it reconnects.
    fn inspect(&self) -> Result<(), Error> {
        let deadline = Instant::now() + TOKENS_TIMEOUT;
        let mut session = self.write_session.lock();
        let checked = session.retry(Failure::is_transient, deadline, schema::require_safe_settings);
        checked.map_err(|failure| failure.error)
    }
}
