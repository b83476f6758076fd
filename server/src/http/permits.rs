//! Limits the number of creates in the service. Each create holds a permit, and one token may hold
//! half of the permits.
//!
//! The permits bound the memory of requests. Therefore a create acquires a permit before any byte
//! of its body is read, and releases it when the last byte of its answer has been written to the
//! socket or the connection has ended. In HTTP/1.1 over TLS, and for short answers in HTTP/2, the
//! permit is released when the answer has been copied to the buffer of the connection.

use std::num::NonZeroU32;
use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::http::refusal::Refusal;

/// The pool of permits of the service.
pub struct Permits(Arc<Semaphore>);

/// The pool of permits of one token: half as many as the service has.
pub struct TokenPermits(Arc<Semaphore>);

/// The permit of one create. It returns to both pools when this is dropped.
pub struct Permit {
    _service: OwnedSemaphorePermit,
    _token: OwnedSemaphorePermit,
}

const SERVICE_EXHAUSTED: Refusal = Refusal::NoPermit { cause: "the service has no permit left" };
const TOKEN_EXHAUSTED: Refusal =
    Refusal::NoPermit { cause: "the token already holds half of the permits" };

impl Permits {
    /// Creates a pool of `max_creates` permits.
    pub fn new(max_creates: NonZeroU32) -> Self {
        Self(semaphore(max_creates.get()))
    }

    /// Acquires a permit from this pool and from the pool of the token, without waiting.
    ///
    /// # Errors
    ///
    /// `error` 503 if other creates hold all permits of a pool.
    pub fn acquire(&self, token: &TokenPermits) -> Result<Permit, Refusal> {
        let token = Arc::clone(&token.0).try_acquire_owned().map_err(|_| TOKEN_EXHAUSTED)?;
        let service = Arc::clone(&self.0).try_acquire_owned().map_err(|_| SERVICE_EXHAUSTED)?;
        Ok(Permit { _service: service, _token: token })
    }
}

impl TokenPermits {
    /// Creates the pool of a token in a service with `max_creates` permits.
    pub fn half_of(max_creates: NonZeroU32) -> Self {
        Self(semaphore(max_creates.get().div_ceil(2)))
    }
}

fn semaphore(permits: u32) -> Arc<Semaphore> {
    Arc::new(Semaphore::new((permits as usize).min(Semaphore::MAX_PERMITS)))
}
