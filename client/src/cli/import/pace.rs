//! How fast an import sends: as fast as it can, until a create is past the rate of its token (429).
//!
//! No answer says what the rate is. So the first 429 sets the interval between two creates to that
//! of the answers in the second before, and each later one makes it a twentieth longer. Meanwhile
//! the interval becomes shorter: slowly at first, so that there are a few seconds between two 429s,
//! and the faster the longer no 429 came, because then it is much too long.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::time::Duration;

use tokio::sync::{Mutex, Notify};
use tokio::time::{Instant, sleep};

use crate::retry::LONGEST_RETRY_AFTER;

/// What a 429 multiplies the interval by.
const INCREASE: f64 = 1.05;

/// By which part the interval becomes shorter in a second, just after a 429.
const DECREASE_A_SECOND: f64 = 0.005;

/// An interval longer than this becomes shorter no faster than one of this length: at a low rate
/// each 429 costs much time, so they must be rare.
const LONGEST_FOR_DECREASE: Duration = Duration::from_millis(200);

/// After this time without a 429 the interval becomes shorter four times as fast, after twice the
/// time nine times, and so on: to find out whether the rate is higher.
const PROBE_AFTER: Duration = Duration::from_secs(5);

/// A create that was past the rate has used none of it. So the next one is sent this long after it,
/// if its turn is later.
const REPLACE_AFTER: Duration = Duration::from_millis(100);

/// How far back answers are counted.
const RATE_WINDOW: Duration = Duration::from_secs(1);

/// The interval after the first 429 if nothing was answered in [`RATE_WINDOW`].
const FIRST_INTERVAL: Duration = Duration::from_millis(10);

/// The shortest first interval, so that none is zero.
const SHORTEST_INTERVAL: Duration = Duration::from_micros(50);

/// How much of a delay of this program is made up for.
const MAX_CATCH_UP: Duration = Duration::from_millis(50);

/// The least that a `Retry-After` can say, for want of fractions: it is no reason to stop for so
/// long.
const LEAST_RETRY_AFTER: Duration = Duration::from_secs(1);

/// The pace of all creates of an import.
pub struct Pace {
    /// Creates wait here in the order in which they came.
    first: Mutex<()>,
    /// Tells the first one that waits when its turn is another.
    changed: Notify,
    schedule: RefCell<Schedule>,
}

impl Pace {
    /// Without a limit.
    pub fn new() -> Self {
        let schedule = RefCell::new(Schedule::new(Instant::now()));
        Self { first: Mutex::new(()), changed: Notify::new(), schedule }
    }

    /// Waits until a create may be sent, and returns when that is.
    pub async fn turn(&self) -> Instant {
        let _first = self.first.lock().await;
        loop {
            let now = Instant::now();
            let wait = self.schedule.borrow_mut().take(now);
            let Some(wait) = wait else { return now };
            tokio::select! {
                () = sleep(wait) => {}
                () = self.changed.notified() => {}
            }
        }
    }

    /// A create was answered, and was not past the rate.
    pub fn answered(&self) {
        self.schedule.borrow_mut().answered(Instant::now());
    }

    /// Makes the creates slower, because one that was sent then was past the rate. Returns whether
    /// it is the first one.
    pub fn slow_down(&self, sent: Instant, retry_after: Option<Duration>) -> bool {
        let is_first = self.schedule.borrow_mut().slow_down(sent, Instant::now(), retry_after);
        self.changed.notify_waiters();
        is_first
    }
}

/// When creates may be sent. It reads no clock, so that a test needs none.
struct Schedule {
    /// Between two creates. `None` before the first 429.
    interval: Option<Duration>,
    /// When the next create may be sent.
    next: Instant,
    /// When the interval was made longer.
    slowed: Instant,
    /// The answers of the last second.
    answers: VecDeque<Instant>,
}

impl Schedule {
    fn new(now: Instant) -> Self {
        Self { interval: None, next: now, slowed: now, answers: VecDeque::new() }
    }

    /// Takes the right to send one create now, or says how long to wait for it.
    fn take(&mut self, now: Instant) -> Option<Duration> {
        let wait = self.next.saturating_duration_since(now);
        if !wait.is_zero() {
            return Some(wait);
        }
        if let Some(interval) = &mut self.interval {
            let late = now.saturating_duration_since(self.next);
            self.next += late.saturating_sub(MAX_CATCH_UP) + *interval;
            let since = now.saturating_duration_since(self.slowed);
            let haste = (1.0 + since.div_duration_f64(PROBE_AFTER)).powi(2);
            let seconds = (*interval).min(LONGEST_FOR_DECREASE).as_secs_f64();
            *interval = interval.div_f64(1.0 + DECREASE_A_SECOND * haste * seconds);
        }
        None
    }

    fn answered(&mut self, now: Instant) {
        self.answers.push_back(now);
        while self.answers.front().is_some_and(|answer| now - *answer > RATE_WINDOW) {
            self.answers.pop_front();
        }
    }

    /// The same, at a time that the caller gives.
    fn slow_down(&mut self, sent: Instant, now: Instant, retry_after: Option<Duration>) -> bool {
        // What was sent before the interval became longer says nothing of the new one.
        if sent < self.slowed {
            return false;
        }
        self.slowed = now;
        let is_first = self.interval.is_none();
        self.interval = Some(match self.interval {
            Some(interval) => interval.mul_f64(INCREASE),
            None => self.measured(now),
        });
        self.next = self.next.min(now.max(sent + REPLACE_AFTER));
        if let Some(pause) = retry_after.filter(|pause| *pause > LEAST_RETRY_AFTER) {
            self.next = now + pause.min(LONGEST_RETRY_AFTER);
        }
        is_first
    }

    /// The interval of the last answers.
    fn measured(&self, now: Instant) -> Duration {
        let count = u32::try_from(self.answers.len()).unwrap_or(u32::MAX);
        match self.answers.front() {
            Some(first) => ((now - *first) / count).max(SHORTEST_INTERVAL),
            None => FIRST_INTERVAL,
        }
    }
}

#[cfg(test)]
mod tests;
