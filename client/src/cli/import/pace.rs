//! Decides when the next create of an import is sent.
//!
//! Without `--rate`, creates are sent at once until the service refuses one because the token is
//! over its rate limit (429). The client does not know that limit, so from then on it searches for
//! it: a refusal slows the import down, and each accepted create speeds it up a little.

use std::cell::Cell;
use std::num::NonZeroU32;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::{Instant, sleep_until};

/// The interval between creates after the first refusal.
const INITIAL_INTERVAL: Duration = Duration::from_millis(15);

/// The factors of the interval after a refusal and after an accepted create. With these values,
/// about one create in twenty is refused.
const SLOWER: f64 = 1.2;
const FASTER: f64 = 0.99;

/// How late a create may be without delaying the creates behind it. A timer fires about a
/// millisecond late.
const MAX_LATENESS: Duration = Duration::from_millis(20);

/// The pace of an import.
pub struct Pace {
    /// When the next create may be sent. The lock is fair, so creates are sent in order.
    next: Mutex<Instant>,
    /// The interval between two creates.
    interval: Cell<Duration>,
    /// The interval of `--rate`, or zero.
    min_interval: Duration,
    /// No create is sent before this time.
    resume_at: Cell<Instant>,
    /// When the interval last grew. A refusal of a create that was sent earlier says nothing about
    /// the new interval.
    slowed_at: Cell<Instant>,
    refused: Cell<u64>,
}

impl Pace {
    /// Creates a pace of at most `rate` creates per second.
    pub fn new(rate: Option<NonZeroU32>) -> Self {
        let now = Instant::now();
        let min_interval = rate.map_or(Duration::ZERO, |rate| Duration::from_secs(1) / rate.get());
        Self {
            next: Mutex::new(now),
            interval: Cell::new(min_interval),
            min_interval,
            resume_at: Cell::new(now),
            slowed_at: Cell::new(now),
            refused: Cell::new(0),
        }
    }

    /// Returns how many creates were refused because the token was over its rate limit.
    pub fn refused(&self) -> u64 {
        self.refused.get()
    }

    /// Waits until the next create may be sent. Returns the time at which it is sent.
    pub async fn wait_for_turn(&self) -> Instant {
        let mut next = self.next.lock().await;
        loop {
            let (now, turn) = (Instant::now(), (*next).max(self.resume_at.get()));
            if turn <= now {
                *next = turn.max(now - MAX_LATENESS) + self.interval.get();
                return now;
            }
            sleep_until(turn).await;
        }
    }

    /// Shortens the interval after an accepted create.
    pub fn speed_up(&self) {
        self.interval.set(self.interval.get().mul_f64(FASTER).max(self.min_interval));
    }

    /// Lengthens the interval after a refused create. `sent` is when that create was sent, and
    /// `retry_after` is its pause. After the first refusal, every create waits for the pause.
    pub fn slow_down(&self, sent: Instant, retry_after: Duration) {
        let now = Instant::now();
        let is_first = self.refused.replace(self.refused.get() + 1) == 0;
        if is_first {
            self.resume_at.set(now + retry_after);
            self.interval.set(self.min_interval.max(INITIAL_INTERVAL));
        } else if sent > self.slowed_at.get() {
            let longest = self.min_interval.max(retry_after);
            self.interval.set(self.interval.get().mul_f64(SLOWER).min(longest));
        } else {
            return;
        }
        self.slowed_at.set(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RETRY_AFTER: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn creates_are_held_back_and_spaced_after_a_refusal() {
        let pace = Pace::new(None);
        let [first, second] = [pace.wait_for_turn().await, pace.wait_for_turn().await];
        assert_eq!(first, second);
        pace.slow_down(first, RETRY_AFTER);
        // The second create was in flight together with the first one.
        pace.slow_down(second, RETRY_AFTER);
        assert_eq!(pace.wait_for_turn().await - first, RETRY_AFTER);
        let third = pace.wait_for_turn().await;
        assert_eq!(third - first, RETRY_AFTER + INITIAL_INTERVAL);
        pace.slow_down(third, RETRY_AFTER);
        pace.wait_for_turn().await;
        assert!(pace.wait_for_turn().await - third > INITIAL_INTERVAL.mul_f64(1.1));
        assert_eq!(pace.refused(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn accepted_creates_never_exceed_the_rate() {
        let pace = Pace::new(NonZeroU32::new(10));
        let started = pace.wait_for_turn().await;
        for _ in 0..10 {
            pace.speed_up();
            pace.wait_for_turn().await;
        }
        assert_eq!(started.elapsed(), Duration::from_secs(1));
    }
}
