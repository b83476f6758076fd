//! A service with a limit, and an import, both by the time of a clock that the test makes.

use super::*;

/// How long the service waits before a 429.
const PAUSE: Duration = Duration::from_millis(100);

/// How long any other answer takes.
const ROUND_TRIP: Duration = Duration::from_millis(2);

/// How many creates the import has under way.
const IN_FLIGHT: usize = 64;

/// A service that takes a tenth of its rate at once, and the rest evenly.
struct Limited {
    interval: Duration,
    at_once: u32,
    /// When the bucket will be full again.
    full: Instant,
}

impl Limited {
    fn takes(&mut self, now: Instant) -> bool {
        let is_taken =
            self.full.saturating_duration_since(now) <= self.interval * (self.at_once - 1);
        if is_taken {
            self.full = self.full.max(now) + self.interval;
        }
        is_taken
    }
}

struct Answer {
    at: Instant,
    sent: Instant,
    is_past_rate: bool,
}

#[derive(Default)]
struct Counts {
    created: f64,
    past_rate: f64,
}

/// An import of this many seconds from a service with this rate.
fn import(rate: u32, seconds: u64, interval_at_first: Option<Duration>) -> Counts {
    let start = Instant::now();
    let at_once = rate.div_ceil(10);
    let interval = Duration::from_secs(1) / (rate - at_once + 1);
    let mut service = Limited { interval, at_once, full: start };
    let mut schedule = Schedule::new(start);
    schedule.interval = interval_at_first;
    let mut under_way: Vec<Answer> = Vec::new();
    let mut counts = Counts::default();
    let mut now = start;
    while now < start + Duration::from_secs(seconds) {
        let mut wait = None;
        while under_way.len() < IN_FLIGHT && wait.is_none() {
            wait = schedule.take(now);
            if wait.is_none() {
                let is_past_rate = !service.takes(now);
                let at = now + if is_past_rate { PAUSE } else { ROUND_TRIP };
                under_way.push(Answer { at, sent: now, is_past_rate });
            }
        }
        let next_answer = under_way.iter().map(|answer| answer.at).min();
        let next_turn = wait.map(|wait| now + wait);
        now = next_answer.into_iter().chain(next_turn).min().expect("something comes next");
        for answer in under_way.extract_if(.., |answer| answer.at <= now) {
            if answer.is_past_rate {
                counts.past_rate += 1.0;
                schedule.slow_down(answer.sent, now, Some(LEAST_RETRY_AFTER));
            } else {
                counts.created += 1.0;
                schedule.answered(now);
            }
        }
    }
    counts
}

/// The part of what the service takes that is created.
fn share(created: f64, rate: u32, seconds: u64) -> f64 {
    let a_second = f64::from(rate - rate.div_ceil(10) + 1);
    created / (a_second * Duration::from_secs(seconds).as_secs_f64())
}

#[test]
fn import_past_the_rate_creates_nine_tenths_of_what_the_service_takes_with_few_429() {
    for (rate, seconds) in [(1_000, 10), (1_000, 60), (20, 120), (2, 20), (2, 600)] {
        let Counts { created, past_rate } = import(rate, seconds, None);
        let share = share(created, rate, seconds);
        println!("{rate} a second, {seconds}: {share}, {past_rate} of {created}");
        assert!(share > 0.9, "{rate} a second: {share}");
        assert!(past_rate < 500.0 + 0.2 * created, "{rate} a second: {past_rate} of {created}");
    }
}

/// As after a disk that hung: there were few answers in the second before the first 429.
#[test]
fn interval_that_is_much_too_long_becomes_shorter_within_half_a_minute() {
    let Counts { created, .. } = import(1_000, 60, Some(Duration::from_millis(20)));
    let share = share(created, 1_000, 60);
    assert!(share > 0.5, "{share}");
}

#[test]
fn long_retry_after_stops_all_creates_and_a_429_of_an_older_create_changes_nothing() {
    let start = Instant::now();
    let mut schedule = Schedule::new(start);
    assert_eq!(schedule.take(start), None);
    let now = start + PAUSE;
    assert!(schedule.slow_down(start, now, Some(Duration::from_secs(30))));
    assert_eq!(schedule.take(now), Some(Duration::from_secs(30)));
    let interval = schedule.interval;
    assert!(!schedule.slow_down(start, now + PAUSE, Some(Duration::from_mins(1))));
    assert_eq!(schedule.interval, interval);
    assert_eq!(schedule.take(now), Some(Duration::from_secs(30)));
}
