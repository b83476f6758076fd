//! How tests wait: for events, never for a time to pass.

use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long a test waits for an event before it fails: longer than a slow machine needs.
pub const EVENT_TIMEOUT: Duration = Duration::from_mins(1);

/// The pause between two polls, so that polling does not slow the server down.
const PAUSE: Duration = Duration::from_millis(5);

/// Polls until `holds` does, for at most [`EVENT_TIMEOUT`]. `failure` makes the message of a test
/// that waits too long.
pub fn wait_until(mut holds: impl FnMut() -> bool, failure: impl Fn() -> String) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < EVENT_TIMEOUT, "{}", failure());
        sleep(PAUSE);
    }
}
