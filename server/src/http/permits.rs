//! How many creates are in the service: each has a permit, and a token may have half of them.
//!
//! The permits bound the memory of requests. So a create takes one before a byte of its body is
//! read, and gives it back when the socket has taken the last byte of its answer, or the connection
//! has ended.

use std::num::NonZeroU32;
use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The permits of the service, or those of one token.
pub struct Permits(Arc<Semaphore>);

/// A permit of one create. It is free again when this is dropped.
pub struct Permit {
    _of_service: OwnedSemaphorePermit,
    _of_token: OwnedSemaphorePermit,
}

/// No permit is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoPermit {
    /// Other creates have all of them.
    #[error("--max-creates creates are in the service")]
    InService,
    /// Other creates of the token have its share.
    #[error("half of --max-creates are creates of this token")]
    OfToken,
}

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
    pub fn take(&self, of_token: &Self) -> Result<Permit, NoPermit> {
        let token = of_token.try_acquire().ok_or(NoPermit::OfToken)?;
        let service = self.try_acquire().ok_or(NoPermit::InService)?;
        Ok(Permit { _of_service: service, _of_token: token })
    }

    fn try_acquire(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.0).try_acquire_owned().ok()
    }
}
