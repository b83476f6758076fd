//! What bodies may cost: each of them, and all together.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use metrics::{Gauge, Unit, describe_gauge, gauge};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::http::new_plant;
use crate::http::refusal::Refusal;
use crate::types::NewPlant;

/// From this size on a body is parsed off the thread that speaks HTTP: half a millisecond of it
/// would be one for all other clients.
const LARGE: usize = 32 * 1024;

const BYTES: &str = "plant_store_bodies_bytes";

/// The part of all bodies that large ones leave to the others.
const KEPT: usize = 8;

/// The limits of bodies, and what of them is in use.
pub struct Bodies {
    /// The largest body, in bytes.
    pub size: usize,
    /// How long a whole body may take to arrive, from when it is first asked for.
    pub time: Duration,
    /// The bytes that all bodies together may take, and those that are free.
    all: usize,
    room: Arc<Semaphore>,
    /// The large bodies that may still be parsed at the same time.
    parsers: Arc<Semaphore>,
    in_use: Gauge,
}

/// The bytes that a body takes of the limit for all of them, as long as it lives.
pub struct Room {
    permit: OwnedSemaphorePermit,
    /// The bytes that it leaves to others, if it is large.
    kept: usize,
}

impl Bodies {
    /// No body may be larger than `size`, and all of them together not larger than `all`.
    #[must_use]
    pub fn new(size: usize, time: Duration, all: usize) -> Self {
        describe_gauge!(
            BYTES,
            Unit::Bytes,
            "What bodies take of --max-bodies, as of the last second."
        );
        let all = all.min(Semaphore::MAX_PERMITS);
        let cores = available_parallelism().map_or(1, NonZeroUsize::get);
        Self {
            size,
            time,
            all,
            room: Arc::new(Semaphore::new(all)),
            in_use: gauge!(BYTES),
            parsers: Arc::new(Semaphore::new(1.max(cores / 2))),
        }
    }

    /// Counts what is in use.
    #[expect(clippy::cast_precision_loss, reason = "no memory has 2^53 bytes")]
    pub fn report(&self) {
        self.in_use.set((self.all - self.room.available_permits()) as f64);
    }

    /// Room for a body of that many bytes.
    ///
    /// # Errors
    ///
    /// All bodies together would have more bytes than they may have.
    pub fn room(&self, bytes: usize) -> Result<Room, Refusal> {
        let kept = kept(self.all);
        let permit = permits(&self.room, bytes, bytes, kept)?;
        Ok(Room { permit, kept })
    }

    /// Parses a body, the larger ones on a thread of their own. What is being parsed keeps its
    /// room, and its place among the parsers, even where its client leaves.
    pub async fn parse(&self, (body, room): (Vec<u8>, Room)) -> Result<(NewPlant, Room), Refusal> {
        if body.len() < LARGE {
            return Ok((new_plant::read(&body)?, room));
        }
        let parser = Arc::clone(&self.parsers).acquire_owned();
        let parser = parser.await.expect("the semaphore is never closed");
        let parse = move || {
            let plant = new_plant::read(&body);
            drop((body, parser));
            plant.map(|plant| (plant, room))
        };
        match tokio::task::spawn_blocking(parse).await {
            Ok(read) => Ok(read?),
            Err(panic) => Err(Refusal::Fault { cause: panic.to_string().into() }),
        }
    }
}

impl Room {
    /// Makes sure that there is room for that many bytes in all.
    ///
    /// # Errors
    ///
    /// All bodies together would have more bytes than they may have.
    pub fn cover(&mut self, bytes: usize) -> Result<(), Refusal> {
        let more = bytes.saturating_sub(self.permit.num_permits());
        if more > 0 {
            self.permit.merge(permits(self.permit.semaphore(), more, bytes, self.kept)?);
        }
        Ok(())
    }
}

/// What large bodies leave of that many bytes to the others, so that a few clients with large
/// bodies do not have all plants refused.
#[must_use]
pub const fn kept(all: usize) -> usize {
    all / KEPT
}

/// So many bytes more for a body of `bytes` in all, which leaves `kept` to others if it is large.
fn permits(
    room: &Arc<Semaphore>,
    more: usize,
    bytes: usize,
    kept: usize,
) -> Result<OwnedSemaphorePermit, Refusal> {
    let kept = if bytes < LARGE { 0 } else { kept };
    if room.available_permits() < more.saturating_add(kept) {
        return Err(Refusal::Overload);
    }
    let more = u32::try_from(more).map_err(|_| Refusal::Overload)?;
    Arc::clone(room).try_acquire_many_owned(more).map_err(|_| Refusal::Overload)
}
