//! When a token expires, as a person writes it: after a duration, or on a day.

use std::time::Duration;

use chrono::{DateTime, NaiveDate, NaiveTime, SubsecRound, TimeDelta, Utc};

const SHORTEST: Duration = Duration::from_mins(1);
const LONGEST: Duration = Duration::from_hours(10 * 366 * 24);

/// Why a text is no expiry.
#[derive(Debug, thiserror::Error)]
pub enum InvalidExpiry {
    #[error("this day has begun")]
    DayHasBegun,
    /// The number before a unit that has two meanings.
    #[error("write {0}min or {0}months")]
    MinutesOrMonths(String),
    #[error("expected 1min to 10y, such as 90d, or a day such as 2040-12-31")]
    NoDuration,
}

/// The time at which a token issued now would expire. A store keeps seconds, so it is rounded up: a
/// token is good for at least as long as it was to be.
pub fn parse_expiry(text: &str) -> Result<DateTime<Utc>, InvalidExpiry> {
    if let Ok(day) = text.parse::<NaiveDate>() {
        let begin = day.and_time(NaiveTime::MIN).and_utc();
        return Some(begin).filter(|begin| *begin > Utc::now()).ok_or(InvalidExpiry::DayHasBegun);
    }
    // humantime takes `m` for minutes, and `M` for months.
    let mut units = text.split(|letter: char| !letter.is_alphabetic());
    if units.any(|unit| unit.eq_ignore_ascii_case("m")) {
        let number = text.split(['m', 'M']).next().unwrap_or_default();
        return Err(InvalidExpiry::MinutesOrMonths(number.to_owned()));
    }
    let duration = humantime::parse_duration(text).map_err(|_| InvalidExpiry::NoDuration)?;
    if !(SHORTEST..=LONGEST).contains(&duration) {
        return Err(InvalidExpiry::NoDuration);
    }
    let almost_a_second = TimeDelta::nanoseconds(999_999_999);
    Ok((Utc::now() + duration + almost_a_second).trunc_subsecs(0))
}
