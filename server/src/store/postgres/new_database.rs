//! A new store in a database: one transaction, committed when it is whole.
//!
//! The tables may be there already, empty: an operator of a distributed engine spreads them first.

use std::pin::pin;
use std::sync::atomic::AtomicBool;

use tokio_postgres::binary_copy::BinaryCopyInWriter;

use crate::store::engine::{Contents, NewStore, Pages};
use crate::store::error::StoreError;
use crate::store::postgres::error::PostgresError;
use crate::store::postgres::faults;
use crate::store::postgres::pages::{LongSession, PostgresPages, count};
use crate::store::postgres::reconnecting_session::ReconnectingSession;
use crate::store::postgres::row;
use crate::store::postgres::schema;
use crate::store::postgres::session::Session;
use crate::store::postgres::tokens;
use crate::store::postgres::url::PostgresUrl;
use crate::store::url::StoreUrl;
use crate::store::version::VERSION;
use crate::token::StoredToken;
use crate::types::NewPlant;

const CREATE: &str = "create the store";
const PUBLISH: &str = "make sure that the new store, which is there, is durable";

/// The transaction ends when this is dropped, unless it was published: nothing is left then.
pub struct NewDatabase {
    url: StoreUrl,
    session: LongSession,
}

/// What is in the database.
enum Found {
    Nothing,
    /// The tables of a store of this release, without a plant or a token, and no server.
    EmptyStore,
    Something,
}

impl NewDatabase {
    /// Begins a store in that database.
    pub fn begin(url: &PostgresUrl, session: ReconnectingSession) -> Result<Self, StoreError> {
        let url = StoreUrl::Postgres(Box::new(url.clone()));
        let failed = |error: PostgresError| error.of_store(&url, CREATE);
        let session = LongSession::connect(session).map_err(failed)?;
        let begun = session.run(async |session| {
            faults::check(session, false).await?;
            let found = look(session).await?;
            if let Found::Something = found {
                return Ok(found);
            }
            session.client.batch_execute("BEGIN").await?;
            if let Found::Nothing = found {
                schema::bring_up_to_date(session, &AtomicBool::default()).await?;
            } else {
                // Nobody can use it from here on, and this look sees who has used it before.
                session.client.batch_execute("LOCK TABLE plants IN EXCLUSIVE MODE").await?;
                return look(session).await;
            }
            Ok(found)
        });
        match begun {
            Ok(Found::Nothing | Found::EmptyStore) => Ok(Self { url, session }),
            Ok(Found::Something) => Err(StoreError::Exists(url)),
            // Another copy has made its store while this one waited for it.
            Err(error) if schema::is_a_race(&error) => Err(StoreError::Exists(url)),
            Err(error) => Err(failed(error)),
        }
    }

    fn run<T>(
        &self,
        doing: &'static str,
        work: impl AsyncFnOnce(&Session) -> Result<T, PostgresError>,
    ) -> Result<T, StoreError> {
        self.session.run(work).map_err(|error| error.of_store(&self.url, doing))
    }
}

async fn look(session: &Session) -> Result<Found, PostgresError> {
    let found = schema::version(session).await?;
    if found.is_none() {
        let is_free = !schema::has_table(session, "plants").await?;
        return Ok(if is_free { Found::Nothing } else { Found::Something });
    }
    if found != Some(VERSION) {
        return Ok(Found::Something);
    }
    let is_used = format!(
        "SELECT EXISTS (SELECT 1 FROM plants) OR EXISTS (SELECT 1 FROM tokens) OR EXISTS ({})",
        tokens::servers()
    );
    let is_used: bool = session.row(&is_used).await?.try_get(0)?;
    Ok(if is_used { Found::Something } else { Found::EmptyStore })
}

impl Contents for NewDatabase {
    fn count(&self) -> Result<u64, StoreError> {
        count(&self.session).map_err(|error| error.of_store(&self.url, "count the plants"))
    }

    fn plants(&self) -> Result<Pages<'_>, StoreError> {
        const READ: &str = "read the plants";
        let failed = |error: PostgresError| error.of_store(&self.url, READ);
        let pages = PostgresPages::declare(&self.session).map_err(failed)?;
        Ok(Box::new(pages.map(move |page| page.map_err(failed))))
    }

    fn tokens(&self) -> Result<Vec<StoredToken>, StoreError> {
        self.run("read the tokens", tokens::all)
    }
}

impl NewStore for NewDatabase {
    fn add(&mut self, plants: &[NewPlant]) -> Result<(), StoreError> {
        let copy = format!("COPY plants ({}) FROM STDIN BINARY", row::COLUMNS);
        self.run("write the plants", async |session| {
            let sink = session.client.copy_in(&copy).await?;
            let mut rows = pin!(BinaryCopyInWriter::new(sink, &row::TYPES));
            for plant in plants {
                rows.as_mut().write_raw(row::values(plant)).await?;
            }
            // Fails if an id is there already.
            rows.finish().await?;
            Ok(())
        })
    }

    fn add_token(&mut self, token: &StoredToken) -> Result<(), StoreError> {
        self.run("write the tokens", async |session| tokens::insert(session, token).await)
    }

    fn publish(self: Box<Self>) -> Result<bool, StoreError> {
        self.run(PUBLISH, async |session| {
            session.take_warning();
            session.client.batch_execute("COMMIT").await?;
            match session.take_warning() {
                Some(warning) => Err(PostgresError::Warned(warning)),
                None => Ok(true),
            }
        })
    }
}
