//! The limits of request bodies: of each body, and of all bodies with their heads and answers.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use metrics::{Gauge, Unit, describe_gauge, gauge};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::http::refusal::Refusal;
use crate::http::strict::{self, NotANewPlant, Sent};

/// A body of at least this size is parsed on another thread. Parsing it takes half a millisecond,
/// and on the thread that speaks HTTP it would delay every other client by that time.
const LARGE: usize = 32 * 1024;

/// Large bodies leave one part in this many of the budget to the others: one eighth.
const KEPT: usize = 8;

/// What a large but ordinary head takes of the budget.
const HEAD: usize = 24 * 1024;

const BYTES: &str = "plant_store_bodies_bytes";

/// The limits of bodies, and how much of the budget is in use.
pub struct Bodies {
    /// The largest body, in bytes.
    pub size: usize,
    /// How long a whole body may take to arrive, from the moment when the service begins to read
    /// it.
    pub time: Duration,
    /// The bytes that all requests together may take, and those that nobody has reserved.
    budget: usize,
    free: Arc<Semaphore>,
    /// The large bodies that may still be parsed at the same time.
    parsers: Arc<Semaphore>,
    in_use: Gauge,
}

/// The bytes of the budget that a request has reserved for its head, its body, its plant and its
/// answer. They are free again when this is dropped.
pub struct Reservation {
    permit: OwnedSemaphorePermit,
    /// The bytes that the request takes besides its body.
    head: usize,
    /// The bytes that must stay free if the body is large.
    kept: usize,
}

/// A create, as its body asks for it.
pub struct Create {
    /// The id of the plant.
    pub id: i64,
    /// The JSON text of the 200. It is made once, stored and sent.
    pub plant: String,
    /// The first names of ignored members.
    pub ignored: Vec<String>,
}

impl Create {
    fn read(body: &[u8]) -> Result<Self, NotANewPlant> {
        let Sent { id, plant, ignored } = strict::read(body)?;
        let plant = serde_json::to_string(&plant).expect("a plant is always JSON");
        Ok(Self { id, plant, ignored })
    }
}

impl Bodies {
    /// No body may be larger than `size`, and all requests together not larger than `budget`, in
    /// bytes.
    #[must_use]
    pub fn new(size: usize, time: Duration, budget: usize) -> Self {
        describe_gauge!(
            BYTES,
            Unit::Bytes,
            "What requests and their answers take of --max-bodies, as of the last second."
        );
        let budget = budget.min(Semaphore::MAX_PERMITS);
        let cores = available_parallelism().map_or(1, NonZeroUsize::get);
        Self {
            size,
            time,
            budget,
            free: Arc::new(Semaphore::new(budget)),
            in_use: gauge!(BYTES),
            parsers: Arc::new(Semaphore::new(1.max(cores / 2))),
        }
    }

    /// Counts what is in use.
    #[expect(clippy::cast_precision_loss, reason = "no memory has 2^53 bytes")]
    pub fn report(&self) {
        self.in_use.set((self.budget - self.free.available_permits()) as f64);
    }

    /// Reserves what a request takes besides its body, and the bytes of its body.
    ///
    /// # Errors
    ///
    /// The budget has too few left.
    pub fn reserve(&self, head: usize, bytes: usize) -> Result<Reservation, Refusal> {
        let nothing = Arc::clone(&self.free).try_acquire_many_owned(0);
        let permit = nothing.map_err(|_| Refusal::Overload)?;
        let mut reservation = Reservation { permit, head, kept: kept(self.budget) };
        reservation.grow_to(bytes)?;
        Ok(reservation)
    }

    /// Parses a body, a large one on another thread. A body that is being parsed keeps its
    /// reservation, and counts among the parsers, even if its client leaves.
    pub async fn parse(
        &self,
        (body, reserved): (Vec<u8>, Reservation),
    ) -> Result<(Create, Reservation), Refusal> {
        if body.len() < LARGE {
            return Ok((Create::read(&body)?, reserved));
        }
        let parser = Arc::clone(&self.parsers).acquire_owned();
        let parser = parser.await.expect("the semaphore is never closed");
        let parse = move || {
            let create = Create::read(&body);
            drop((body, parser));
            create.map(|create| (create, reserved))
        };
        match tokio::task::spawn_blocking(parse).await {
            Ok(read) => Ok(read?),
            Err(panic) => Err(Refusal::Fault { cause: panic.to_string().into() }),
        }
    }
}

impl Reservation {
    /// Reserves more, so that there are `bytes` for the body. A large body must leave `kept` bytes
    /// free.
    ///
    /// # Errors
    ///
    /// The budget has too few left.
    pub fn grow_to(&mut self, bytes: usize) -> Result<(), Refusal> {
        let all = self.head.saturating_add(bytes);
        let more = all.saturating_sub(self.permit.num_permits());
        if more == 0 {
            return Ok(());
        }
        let kept = if bytes < LARGE { 0 } else { self.kept };
        let free = self.permit.semaphore();
        if free.available_permits() < more.saturating_add(kept) {
            return Err(Refusal::Overload);
        }
        let more = u32::try_from(more).map_err(|_| Refusal::Overload)?;
        let more = Arc::clone(free).try_acquire_many_owned(more).map_err(|_| Refusal::Overload)?;
        self.permit.merge(more);
        Ok(())
    }
}

/// How many bytes of a budget large bodies leave to the others. Otherwise a few clients with large
/// bodies could use up the budget, and all other plants would be refused.
const fn kept(budget: usize) -> usize {
    budget / KEPT
}

/// The largest body that fits into a budget, with an ordinary head.
#[must_use]
pub const fn largest_body(budget: usize) -> usize {
    (budget - kept(budget)).saturating_sub(HEAD)
}
