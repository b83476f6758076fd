//! The limits of requests, which flags of `serve` set.

use std::num::NonZeroU32;
use std::time::Duration;

/// The limits of requests.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How many creates may be in the service at a time. One token may have half of them.
    pub max_creates: NonZeroU32,
    /// The maximum size of a body in bytes.
    pub max_body: usize,
    /// How long the whole body may take to arrive, from the moment at which the service starts to
    /// read it.
    pub body_timeout: Duration,
    /// How long a request waits for the store.
    pub store_timeout: Duration,
}
