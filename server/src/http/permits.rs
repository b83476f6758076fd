//! How many creates are in the service: each has a permit, and a token may have half of them.
//!
//! The permits bound the memory of requests. So a create takes one before a byte of its body is
//! read, and gives it back when the socket has taken the last byte of its answer, or the connection
//! has ended. In HTTP/1.1 over TLS it gives it back when hyper has copied the answer.
//!
//! And how many bytes of one token are parsed and committed at a time, so that the creates of
//! others do not wait for them.

use std::num::NonZeroU32;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

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
const OF_BYTES: Refusal =
    Refusal::NoPermit { cause: "the bodies of this token before it were not committed in time" };
const OF_TOKEN: Refusal = Refusal::NoPermit { cause: "the token has half of the permits" };

/// How many bytes of bodies of one token are parsed and committed at a time.
const BYTES: u32 = 256 * 1024;

/// The bytes of bodies of one token that may be parsed and committed now. The next bodies of the
/// token wait, in their order. Otherwise the creates of others would wait for all large ones that
/// a token can send, at each thread that they pass.
pub struct ByteBudget(Arc<Semaphore>);

/// The bytes of one body. They are free again when this is dropped.
pub type BytesOfBody = OwnedSemaphorePermit;

impl ByteBudget {
    /// All of a token's.
    pub fn of_a_token() -> Self {
        Self(Arc::new(Semaphore::new(BYTES as usize)))
    }

    /// Takes the bytes of a body; all of them if it has more. Waits for the bodies before it.
    ///
    /// # Errors
    ///
    /// `error` 503: they were not committed within the limit.
    pub async fn take(&self, body: &[u8], limit: Duration) -> Result<BytesOfBody, Refusal> {
        let bytes = u32::try_from(body.len()).unwrap_or(BYTES).min(BYTES);
        let mut taken = pin!(Arc::clone(&self.0).acquire_many_owned(bytes));
        // A timer costs more than what is free at once.
        let taken = match taken.as_mut().now_or_never() {
            Some(taken) => taken,
            None => timeout(limit, taken).await.map_err(|_| OF_BYTES)?,
        };
        Ok(taken.expect("it is never closed"))
    }
}

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
