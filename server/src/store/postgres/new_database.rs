//! A new store in a database: one transaction, committed when it is whole.
//!
//! The tables may be there already, empty: an operator of a distributed engine spreads them first.

use std::pin::pin;
use std::sync::atomic::AtomicBool;

use tokio_postgres::binary_copy::BinaryCopyInWriter;

use crate::store::engine::{Contents, NewStore, Pages, StoreError};
use crate::store::postgres::error::PostgresError;
use crate::store::postgres::link::Link;
use crate::store::postgres::pages::{Open, PostgresPages, count};
use crate::store::postgres::row;
use crate::store::postgres::schema;
use crate::store::postgres::session::Session;
use crate::store::postgres::tokens;
use crate::store::postgres::url::PostgresUrl;
use crate::store::url::StoreUrl;
use crate::token::StoredToken;
use crate::types::NewPlant;

const CREATE: &str = "create the store";
const PUBLISH: &str = "make sure that the new store, which is there, is durable";

/// The transaction ends when this is dropped, unless it was published: nothing is left then.
pub struct NewDatabase {
    url: StoreUrl,
    open: Open,
}

/// What is in the place.
enum Place {
    Free,
    /// The tables of a store of this release, without a plant or a token, and no server.
    Empty,
    Taken,
}

impl NewDatabase {
    /// Begins a store in that database.
    pub fn begin(url: &PostgresUrl, link: Link) -> Result<Self, StoreError> {
        let url = StoreUrl::Postgres(Box::new(url.clone()));
        let failed = |error: PostgresError| error.of_store(&url, CREATE);
        let open = Open::connect(link).map_err(failed)?;
        let begun = open.run(async |session| {
            session.check_durability().await?;
            let found = place(session).await?;
            if let Place::Taken = found {
                return Ok(found);
            }
            session.client.batch_execute("BEGIN").await?;
            if let Place::Free = found {
                schema::bring_up_to_date(session, &AtomicBool::default()).await?;
            } else {
                // Whoever has used it meanwhile is seen now, and nobody will before the end.
                session.client.batch_execute("LOCK TABLE plants IN EXCLUSIVE MODE").await?;
                return place(session).await;
            }
            Ok(found)
        });
        match begun {
            Ok(Place::Free | Place::Empty) => Ok(Self { url, open }),
            Ok(Place::Taken) => Err(StoreError::Exists(url)),
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
        self.open.run(work).map_err(|error| error.of_store(&self.url, doing))
    }
}

async fn place(session: &Session) -> Result<Place, PostgresError> {
    let found = schema::version(session).await?;
    if found.is_none() {
        let is_free = !schema::has_table(session, "plants").await?;
        return Ok(if is_free { Place::Free } else { Place::Taken });
    }
    if found != Some(schema::VERSION) {
        return Ok(Place::Taken);
    }
    let is_used = "SELECT EXISTS (SELECT 1 FROM plants) OR EXISTS (SELECT 1 FROM tokens) \
 \
                   OR EXISTS";
    let is_used = format!("{is_used} ({})", tokens::SERVERS);
    let is_used: bool = session.row(&is_used).await?.try_get(0)?;
    Ok(if is_used { Place::Taken } else { Place::Empty })
}

impl Contents for NewDatabase {
    fn count(&self) -> Result<u64, StoreError> {
        count(&self.open).map_err(|error| error.of_store(&self.url, "count the plants"))
    }

    fn plants(&self) -> Result<Pages<'_>, StoreError> {
        const READ: &str = "read the plants";
        let failed = |error: PostgresError| error.of_store(&self.url, READ);
        let pages = PostgresPages::declare(&self.open).map_err(failed)?;
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
            // Fails where an id is there already.
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
