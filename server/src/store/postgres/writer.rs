//! The one session that writes plants.
//!
//! A batch is one transaction, and takes one round trip: its statements are sent without waiting
//! for the answers of those before. If ids were taken, a second round trip reads their plants. A plant
//! never changes, and the transaction has waited for the rows that it met, so this read needs no
//! transaction.
//!
//! A commit whose answer was lost is repeated. The repeat tells what is there.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use futures::TryStreamExt;
use futures::future::try_join_all;
use futures::join;

use crate::store::engine::{Outcome, Writer};
use crate::store::error::CommitError;
use crate::store::postgres::error::PostgresError;
use crate::store::postgres::reconnecting_session::ReconnectingSession;
use crate::store::postgres::row;
use crate::store::postgres::session::Session;
use crate::store::postgres::tokens;
use crate::types::NewPlant;

/// How long it may take to tell the database that this server stops.
const LEAVE_LIMIT: Duration = Duration::from_millis(500);

pub struct PostgresWriter {
    session: ReconnectingSession,
    /// This server, by its id in the table `servers`.
    server: i64,
    /// Whether the database keeps what is committed, as of the last second.
    is_safe: Arc<AtomicBool>,
}

impl PostgresWriter {
    pub fn new(session: ReconnectingSession, server: i64, is_safe: Arc<AtomicBool>) -> Self {
        Self { session, server, is_safe }
    }

    fn check(&self) -> Result<(), CommitError> {
        match self.is_safe.load(Relaxed) {
            true => Ok(()),
            false => Err(CommitError::Unavailable(
                "the database may not keep a plant as it was sent, and the log says why".into(),
            )),
        }
    }
}

impl Writer for PostgresWriter {
    fn commit(&mut self, plants: &[NewPlant], until: Instant) -> Result<Vec<Outcome>, CommitError> {
        self.check()?;
        let plants = SortedPlants::of(plants);
        Ok(self.session.retry(until, async |session| plants.put(session).await)?)
    }

    fn try_write(&mut self, until: Instant) -> Result<(), CommitError> {
        self.check()?;
        Ok(self.session.run(until, async |session| try_write(session).await)?)
    }

    fn may_try_after_fault(&self) -> bool {
        true
    }

    /// Everything is in the database already. Token commands need not wait for this server any more.
    fn finish(&mut self) -> Result<(), CommitError> {
        let until = Instant::now() + LEAVE_LIMIT;
        // If this fails, the server counts as gone after some seconds.
        let _ = self.session.run(until, async |session| tokens::leave(session, self.server).await);
        self.session.disconnect();
        Ok(())
    }
}

/// Plants to be committed together.
struct SortedPlants<'a> {
    plants: &'a [NewPlant],
    /// The first plant of each id, in the order of the ids. Transactions with the same ids lock them
    /// in the same order, so they cannot deadlock. And a statement may have an id only once.
    firsts: Vec<&'a NewPlant>,
}

impl<'a> SortedPlants<'a> {
    fn of(plants: &'a [NewPlant]) -> Self {
        let mut firsts: Vec<_> = plants.iter().collect();
        // Stable, so the first plant of an id stays the first.
        firsts.sort_by_key(|plant| plant.id);
        firsts.dedup_by_key(|plant| plant.id);
        Self { plants, firsts }
    }

    /// Commits the plants, and says what became of each.
    async fn put(&self, session: &Session) -> Result<Vec<Outcome>, PostgresError> {
        let created = self.insert(session).await?;
        let mut taken = self.firsts.iter().map(|plant| plant.id).collect::<Vec<_>>();
        if created == taken && taken.len() == self.plants.len() {
            return Ok(vec![Outcome::Created; created.len()]);
        }
        if created.iter().any(|id| taken.binary_search(id).is_err()) {
            return Err(PostgresError::OtherIds);
        }
        taken.retain(|id| created.binary_search(id).is_err());
        let found = read(session, &taken).await?;
        self.compare(&created, &found)
    }

    /// Adds the plants whose ids are free, and returns those ids in their order.
    async fn insert(&self, session: &Session) -> Result<Vec<i64>, PostgresError> {
        let mut inserts = Vec::new();
        let mut rest = self.firsts.as_slice();
        // From the largest power of two that fits to the smallest.
        while !rest.is_empty() {
            let exponent = rest.len().ilog2() as usize;
            let (plants, others) = rest.split_at(1 << exponent);
            inserts.push((session.insert(exponent).await?, plants));
            rest = others;
        }
        let insert = async |(statement, plants): (_, &[&NewPlant])| {
            let values: Vec<_> = plants.iter().flat_map(|plant| row::values(plant)).collect();
            let rows = session.client.query_raw(statement, values).await?;
            let ids = rows.and_then(async |row| row.try_get::<_, i64>(0));
            Ok::<Vec<_>, PostgresError>(ids.try_collect().await?)
        };
        let client = &session.client;
        let mut ids = if let [_] = inserts.as_slice() {
            // One statement is a transaction.
            insert(inserts.remove(0)).await?
        } else {
            // Polled in this order, so sent in this order. If one fails, those after it fail too, and
            // the server rolls back at the end.
            let (begun, inserted, committed) = join!(
                client.batch_execute("BEGIN"),
                try_join_all(inserts.into_iter().map(insert)),
                client.batch_execute("COMMIT"),
            );
            begun?;
            let inserted = inserted?;
            committed?;
            inserted.concat()
        };
        ids.sort_unstable();
        Ok(ids)
    }

    /// What became of the plants, in their order; `found` has the plants of the ids that were taken.
    fn compare(
        &self,
        created: &[i64],
        found: &HashMap<i64, Option<NewPlant>>,
    ) -> Result<Vec<Outcome>, PostgresError> {
        let outcome = |plant: &NewPlant| {
            let at = self.firsts.binary_search_by_key(&plant.id, |first| first.id);
            let first = self.firsts[at.expect("each id is among the first ones")];
            let is_created = created.binary_search(&plant.id).is_ok();
            if is_created && std::ptr::eq(first, plant) {
                return Ok(Outcome::Created);
            }
            let is_same = match found.get(&plant.id) {
                _ if is_created => first == plant,
                Some(kept) => kept.as_ref() == Some(plant),
                None => return Err(PostgresError::Removed),
            };
            Ok(if is_same { Outcome::Repeated } else { Outcome::Conflict })
        };
        self.plants.iter().map(outcome).collect()
    }
}

/// Takes the locks and the rights that a create takes, and commits what changes nothing.
async fn try_write(session: &Session) -> Result<(), PostgresError> {
    let plants = "INSERT INTO plants (id, name) SELECT id, name FROM plants WHERE false \
                  ON CONFLICT (id) DO UPDATE SET name = plants.name WHERE false";
    let tokens = "UPDATE token_changes SET made = made WHERE id = 1";
    Ok(session.client.batch_execute(&format!("{plants}; {tokens}")).await?)
}

/// The plants of these ids. None for a row that this service cannot have written: no plant is the
/// same as that one.
async fn read(
    session: &Session,
    ids: &[i64],
) -> Result<HashMap<i64, Option<NewPlant>>, PostgresError> {
    let mut plants = HashMap::new();
    if ids.is_empty() {
        return Ok(plants);
    }
    let query = [(&ids as _, tokio_postgres::types::Type::INT8_ARRAY)];
    for row in session.client.query_typed(&row::by_id(), &query).await? {
        let plant = match row::plant(&row) {
            Err(PostgresError::NotText) => None,
            plant => Some(plant?),
        };
        plants.insert(row.try_get(0)?, plant);
    }
    Ok(plants)
}
