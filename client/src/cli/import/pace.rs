//! When the next create of an import is sent.
//!
//! Without `--rate` that is at once, until the service refuses a create because the token is past
//! its rate (429). The client does not know this rate, so from then on it looks for it: a refusal
//! makes the import slower, and each create that is accepted makes it a little faster.

use std::cell::Cell;
use std::num::NonZeroU32;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::{Instant, sleep_until};

/// The interval between creates after the first refusal.
const FIRST: Duration = Duration::from_millis(15);

/// What the interval is multiplied by after a refusal, and after a create that is accepted. Between
/// them, about one create in twenty is refused.
const SLOWER: f64 = 1.2;
const FASTER: f64 = 0.99;

/// How late a create may be and not delay those behind it. A timer is late by about a millisecond.
const LATE: Duration = Duration::from_millis(20);

/// The pace of an import.
pub struct Pace {
    /// When the next create may be sent. The creates lock it in their order.
    next: Mutex<Instant>,
    /// Between two creates.
    interval: Cell<Duration>,
    /// The interval of `--rate`, or zero.
    shortest: Duration,
    /// No create is sent before.
    resume: Cell<Instant>,
    /// When the interval last became longer. The refusal of a create that was sent before says
    /// nothing about it.
    slower_since: Cell<Instant>,
    refused: Cell<u64>,
}

impl Pace {
    /// `rate` is in creates a second.
    pub fn new(rate: Option<NonZeroU32>) -> Self {
        let now = Instant::now();
        let shortest = rate.map_or(Duration::ZERO, |rate| Duration::from_secs(1) / rate.get());
        Self {
            next: Mutex::new(now),
            interval: Cell::new(shortest),
            shortest,
            resume: Cell::new(now),
            slower_since: Cell::new(now),
            refused: Cell::new(0),
        }
    }

    /// How many creates were refused because the token was past its rate.
    pub fn refused(&self) -> u64 {
        self.refused.get()
    }

    /// Waits until the next create may be sent. Returns when that is.
    pub async fn turn(&self) -> Instant {
        let mut next = self.next.lock().await;
        loop {
            let (now, turn) = (Instant::now(), (*next).max(self.resume.get()));
            if turn <= now {
                *next = turn.max(now - LATE) + self.interval.get();
                return now;
            }
            sleep_until(turn).await;
        }
    }

    /// A create was accepted.
    pub fn go_faster(&self) {
        self.interval.set(self.interval.get().mul_f64(FASTER).max(self.shortest));
    }

    /// A create that was sent at this time was refused, and may be sent again after a pause. After
    /// the first refusal every create waits for this pause.
    pub fn go_slower(&self, sent: Instant, retry_after: Duration) {
        let now = Instant::now();
        let is_first = self.refused.replace(self.refused.get() + 1) == 0;
        if is_first {
            self.resume.set(now + retry_after);
            self.interval.set(self.shortest.max(FIRST));
        } else if sent > self.slower_since.get() {
            let longest = self.shortest.max(retry_after);
            self.interval.set(self.interval.get().mul_f64(SLOWER).min(longest));
        } else {
            return;
        }
        self.slower_since.set(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RETRY_AFTER: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn first_refusal_holds_every_create_back_and_then_they_are_spread() {
        let pace = Pace::new(None);
        let [first, second] = [pace.turn().await, pace.turn().await];
        assert_eq!(first, second);
        pace.go_slower(first, RETRY_AFTER);
        // It was under way with the first one.
        pace.go_slower(second, RETRY_AFTER);
        assert_eq!(pace.turn().await - first, RETRY_AFTER);
        let third = pace.turn().await;
        assert_eq!(third - first, RETRY_AFTER + FIRST);
        pace.go_slower(third, RETRY_AFTER);
        pace.turn().await;
        assert!(pace.turn().await - third > FIRST.mul_f64(1.1));
        assert_eq!(pace.refused(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn creates_that_are_accepted_are_no_faster_than_the_rate() {
        let pace = Pace::new(NonZeroU32::new(10));
        let started = pace.turn().await;
        for _ in 0..10 {
            pace.go_faster();
            pace.turn().await;
        }
        assert_eq!(started.elapsed(), Duration::from_secs(1));
    }
}
