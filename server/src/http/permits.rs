//! How many creates are in the service: each has a permit, and a token may have half of them.
//!
//! The permits bound the memory of requests. So a create takes one before a byte of its body is
//! read, and gives it back when the socket has taken the last byte of its answer, or the connection
//! has ended.

use std::num::NonZeroU32;
use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::http::refusal::Refusal;

/// The permits of the service, or those of one token.
pub struct Permits(Arc<Semaphore>);

/// A permit of one create. It is free again when this is dropped.
pub struct Permit {
    _of_service: OwnedSemaphorePermit,
    _of_token: OwnedSemaphorePermit,
}

const OF_SERVICE: Refusal = Refusal::NoPermit { whose: "--max-creates creates are in the service" };
const OF_TOKEN: Refusal =
    Refusal::NoPermit { whose: "half of --max-creates are creates of this token" };

impl Permits {
    /// The permits of the service.
    pub fn of_service(max_creates: NonZeroU32) -> Self {
        Self::new(max_creates.get())
    }

    /// The permits that one token may have.
    pub fn share_of_a_token(max_creates: NonZeroU32) -> Self {
        Self::new(max_creates.get().div_ceil(2))
    }

    fn new(permits: u32) -> Self {
        let permits = (permits as usize).min(Semaphore::MAX_PERMITS);
        Self(Arc::new(Semaphore::new(permits)))
    }

    /// Takes one of the service, which are these, for a create, and one of its token.
    ///
    /// # Errors
    ///
    /// `error` 503: other creates have all of them.
    pub fn take(&self, of_token: &Self) -> Result<Permit, Refusal> {
        let token = of_token.try_acquire().ok_or(OF_TOKEN)?;
        let service = self.try_acquire().ok_or(OF_SERVICE)?;
        Ok(Permit { _of_service: service, _of_token: token })
    }

    fn try_acquire(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.0).try_acquire_owned().ok()
    }
}
