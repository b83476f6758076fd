//! Limits the creates per second that a token may send to this server.

use std::num::NonZeroU32;

use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use metrics::{Counter, counter, describe_counter};
use plant_store_store::token::TokenName;

use crate::http::refusal::Refusal;

/// The burst is the rate divided by this number.
const BURST_DIVISOR: NonZeroU32 = NonZeroU32::new(10).expect("ten is not 0");

const PAST_RATE: &str = "creates_past_rate_total";

/// The rate limit of one token, and how much of it the token has used.
pub struct Rate {
    limit: NonZeroU32,
    limiter: DefaultDirectRateLimiter,
    /// Counts the creates that were refused.
    refused: Counter,
}

impl Rate {
    /// Creates a limit of `limit` creates in any second. A tenth of the creates may come in a
    /// burst, the others must be spread evenly.
    pub fn new(limit: NonZeroU32, token: &TokenName) -> Self {
        describe_counter!(
            PAST_RATE,
            "Creates that were refused because their token exceeded its rate, by token name."
        );
        // In a second that begins with a full bucket, the token can send `bucket` creates plus one
        // for each refill before the second is over. There are `refill - 1` such refills.
        let bucket = limit.div_ceil(BURST_DIVISOR);
        let refill = NonZeroU32::MIN.saturating_add(limit.get() - bucket.get());
        let limiter = RateLimiter::direct(Quota::per_second(refill).allow_burst(bucket));
        Self { limit, limiter, refused: counter!(PAST_RATE, "token" => token.to_string()) }
    }

    /// Counts a create against the limit.
    ///
    /// # Errors
    ///
    /// `error` 429 if the create exceeds the limit.
    pub fn check(&self) -> Result<(), Refusal> {
        self.limiter.check().map_err(|_| {
            self.refused.increment(1);
            Refusal::TooManyRequests { limit: self.limit }
        })
    }
}
