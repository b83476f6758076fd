//! How many creates per second a token may send to this server.

use std::num::NonZeroU32;

use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use metrics::{Counter, counter, describe_counter};
use plant_store_store::token::TokenName;

use crate::http::refusal::Refusal;

/// This part of the rate may come at once.
const BURST_DIVISOR: NonZeroU32 = NonZeroU32::new(10).expect("ten is not 0");

const PAST_RATE: &str = "creates_past_rate_total";

/// The rate of one token, and what it has used of it.
pub struct Rate {
    limit: NonZeroU32,
    limiter: DefaultDirectRateLimiter,
    /// The creates that were refused.
    past: Counter,
}

impl Rate {
    /// In no second may the token send more creates than `limit`: a tenth of them may come at once,
    /// the others evenly.
    pub fn new(limit: NonZeroU32, token: &TokenName) -> Self {
        describe_counter!(PAST_RATE, "Creates past the rate of their token, by its name.");
        // In a second that begins with a full bucket, the token sends `bucket` creates, and one for
        // each refill that comes before the second is over. That is one fewer than `refill`.
        let bucket = limit.div_ceil(BURST_DIVISOR);
        let refill = NonZeroU32::MIN.saturating_add(limit.get() - bucket.get());
        let limiter = RateLimiter::direct(Quota::per_second(refill).allow_burst(bucket));
        Self { limit, limiter, past: counter!(PAST_RATE, "token" => token.to_string()) }
    }

    /// Counts a create.
    ///
    /// # Errors
    ///
    /// It is one more than the token may send.
    pub fn check(&self) -> Result<(), Refusal> {
        self.limiter.check().map_err(|_| {
            self.past.increment(1);
            Refusal::TooManyRequests { limit: self.limit }
        })
    }
}
