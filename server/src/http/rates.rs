//! How many creates a second each token may send.

use std::num::NonZeroU32;
use std::sync::Arc;

use governor::clock::DefaultClock;
use governor::state::keyed::HashMapStateStore;
use governor::{Quota, RateLimiter};

use crate::http::refusal::Refusal;

/// The rates of all tokens, by their names. It keeps a few bytes for each token that was used since
/// the start.
pub struct Rates {
    limit: Option<(NonZeroU32, Limiter)>,
}

type Limiter = RateLimiter<Arc<str>, HashMapStateStore<Arc<str>>, DefaultClock>;

impl Rates {
    /// Each token may send so many creates a second, also all of them at once. Without a number it
    /// may send any.
    #[must_use]
    pub fn new(creates: Option<NonZeroU32>) -> Self {
        let limiter = |creates| (creates, RateLimiter::hashmap(Quota::per_second(creates)));
        Self { limit: creates.map(limiter) }
    }

    /// Counts a create of that token.
    ///
    /// # Errors
    ///
    /// It is one more than the token may send.
    pub fn check(&self, token: &Arc<str>) -> Result<(), Refusal> {
        let Some((limit, limiter)) = &self.limit else { return Ok(()) };
        limiter.check_key(token).map_err(|_| Refusal::TooManyCreates { limit: *limit })
    }
}
