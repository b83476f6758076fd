//! How many creates are in the service: each has a permit, and a token may have half of them.
//!
//! The permits bound the memory of requests. So a create takes one before a byte of its body is
//! read, and gives it back when the socket has taken the last byte of its answer, or the connection
//! has ended. In HTTP/1.1 over TLS, and in HTTP/2 if the answer is short, it gives it back when the
//! answer is copied.

use std::num::NonZeroU32;
use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::http::refusal::Refusal;

/// The permits of the service.
pub struct Permits(Arc<Semaphore>);

/// The permits that one token may have: half of those of the service.
pub struct TokenPermits(Arc<Semaphore>);

/// A permit of one create. It is free again when this is dropped.
pub struct Permit {
    _of_service: OwnedSemaphorePermit,
    _of_token: OwnedSemaphorePermit,
}

const OF_SERVICE: Refusal = Refusal::NoPermit { cause: "the service has no permit left" };
const OF_TOKEN: Refusal = Refusal::NoPermit { cause: "the token has half of the permits" };

impl Permits {
    /// As many permits.
    pub fn new(max_creates: NonZeroU32) -> Self {
        Self(semaphore(max_creates.get()))
    }

    /// Takes one for a create, and one of those of its token.
    ///
    /// # Errors
    ///
    /// `error` 503: other creates have all of them.
    pub fn take(&self, of_token: &TokenPermits) -> Result<Permit, Refusal> {
        let token = Arc::clone(&of_token.0).try_acquire_owned().map_err(|_| OF_TOKEN)?;
        let service = Arc::clone(&self.0).try_acquire_owned().map_err(|_| OF_SERVICE)?;
        Ok(Permit { _of_service: service, _of_token: token })
    }
}

impl TokenPermits {
    /// Those of a token of a service with `max_creates` permits.
    pub fn half_of(max_creates: NonZeroU32) -> Self {
        Self(semaphore(max_creates.get().div_ceil(2)))
    }
}

fn semaphore(permits: u32) -> Arc<Semaphore> {
    Arc::new(Semaphore::new((permits as usize).min(Semaphore::MAX_PERMITS)))
}
