//! Waiting for events. Tests never wait for a fixed time.

use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long a test waits for an event before it fails. Even a slow machine needs less time.
pub const EVENT_TIMEOUT: Duration = Duration::from_mins(1);

/// The pause between two polls, so that polling does not slow the server down.
const PAUSE: Duration = Duration::from_millis(5);

/// Polls until the condition is true. After [`EVENT_TIMEOUT`], panics with the message that
/// `failure` returns.
pub fn wait_until(mut condition: impl FnMut() -> bool, failure: impl Fn() -> String) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < EVENT_TIMEOUT, "{}", failure());
        sleep(PAUSE);
    }
}
