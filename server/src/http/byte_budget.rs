//! How many bytes of the bodies of one token are parsed and committed at a time, so that the creates
//! of others do not wait for them.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::http::refusal::Refusal;

const OF_BYTES: Refusal =
    Refusal::NoPermit { cause: "the bodies of this token before it were not committed in time" };

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
