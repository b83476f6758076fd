//! How many creates a second a token may send.

use std::num::NonZeroU32;

use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use metrics::{Counter, counter, describe_counter};

use crate::http::refusal::Refusal;

const PAST_RATE: &str = "plant_store_creates_past_rate_total";

/// The rate of one token. It lives as long as the token is accepted.
pub struct Rate {
    limit: NonZeroU32,
    limiter: DefaultDirectRateLimiter,
    /// The creates that were refused.
    past: Counter,
}

impl Rate {
    /// The token of that name may send so many creates a second, also all of them at once.
    /// Registers its series.
    #[must_use]
    pub fn new(limit: NonZeroU32, token: &str) -> Self {
        describe_counter!(PAST_RATE, "Creates past the rate of their token, by its name.");
        Self {
            limit,
            limiter: RateLimiter::direct(Quota::per_second(limit)),
            past: counter!(PAST_RATE, "token" => token.to_owned()),
        }
    }

    /// Counts a create of the token.
    ///
    /// # Errors
    ///
    /// It is one more than the token may send.
    pub fn check(&self) -> Result<(), Refusal> {
        self.limiter.check().map_err(|_| {
            self.past.increment(1);
            Refusal::TooManyCreates { limit: self.limit }
        })
    }
}
