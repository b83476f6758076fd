//! How many creates are in the service: each has a permit, and a token may have half of them.
//!
//! The permits bound the memory of requests. So a create takes one before a byte of its body is read,
//! and gives it back when the socket has taken the last byte of its answer, or the connection has
//! ended.

use std::num::NonZeroU32;
use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::http::accepted_tokens::Accepted;

/// The permits of the service.
pub struct Permits(Arc<Semaphore>);

/// A permit of one create. It is free again when this is dropped.
pub struct Permit {
    /// The token of the create.
    pub token: Arc<Accepted>,
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
    /// As many permits.
    pub fn new(max_creates: NonZeroU32) -> Self {
        Self(semaphore(max_creates.get()))
    }

    /// Takes a permit for a create with that token.
    pub fn take(&self, token: Arc<Accepted>) -> Result<Permit, NoPermit> {
        let of_token = Arc::clone(&token.permits).try_acquire_owned();
        let of_token = of_token.map_err(|_| NoPermit::OfToken)?;
        let of_service = Arc::clone(&self.0).try_acquire_owned();
        let of_service = of_service.map_err(|_| NoPermit::InService)?;
        Ok(Permit { token, _of_service: of_service, _of_token: of_token })
    }
}

/// The permits that one token may have.
pub fn share_of_a_token(max_creates: NonZeroU32) -> Arc<Semaphore> {
    semaphore(max_creates.get().div_ceil(2))
}

fn semaphore(permits: u32) -> Arc<Semaphore> {
    Arc::new(Semaphore::new((permits as usize).min(Semaphore::MAX_PERMITS)))
}
