//! Parses the expiry of a token as people write it: a duration or a date.

use std::time::Duration;

use chrono::{DateTime, NaiveDate, NaiveTime, SubsecRound, TimeDelta, Utc};

const MIN: Duration = Duration::from_mins(1);
const MAX: Duration = Duration::from_hours(10 * 366 * 24);

/// The error of [`parse_expiry`].
#[derive(Debug, thiserror::Error)]
pub enum InvalidExpiry {
    #[error("this date is not in the future")]
    PastDate,
    /// The number before the unit `m`, which is ambiguous.
    #[error("`m` is ambiguous: write {0}min or {0}months")]
    MinutesOrMonths(String),
    #[error("expected 1min to 10y, such as 90d, or a date such as 2040-12-31")]
    Malformed,
}

/// Returns the time at which a token that is issued now would expire. Stores keep whole seconds, so
/// the time is rounded up: a token is never valid for less than the given duration.
pub fn parse_expiry(text: &str) -> Result<DateTime<Utc>, InvalidExpiry> {
    if let Ok(day) = text.parse::<NaiveDate>() {
        let start = day.and_time(NaiveTime::MIN).and_utc();
        return Some(start).filter(|start| *start > Utc::now()).ok_or(InvalidExpiry::PastDate);
    }
    // In humantime, `m` means minutes and `M` means months.
    let mut units = text.split(|letter: char| !letter.is_alphabetic());
    if units.any(|unit| unit.eq_ignore_ascii_case("m")) {
        let number = text.split(['m', 'M']).next().unwrap_or_default();
        return Err(InvalidExpiry::MinutesOrMonths(number.to_owned()));
    }
    let duration = humantime::parse_duration(text).map_err(|_| InvalidExpiry::Malformed)?;
    if !(MIN..=MAX).contains(&duration) {
        return Err(InvalidExpiry::Malformed);
    }
    let almost_a_second = TimeDelta::nanoseconds(999_999_999);
    Ok((Utc::now() + duration + almost_a_second).trunc_subsecs(0))
}
