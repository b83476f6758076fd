//! Parsers for limits. They reject values that would refuse every create, wait forever or overflow
//! a clock.

use std::time::Duration;

use bytesize::ByteSize;

/// The length of `{"id":0,"name":""}`. A smaller limit would refuse every create.
const MIN_BODY: ByteSize = ByteSize::b(18);

const MIN_TIME: Duration = Duration::from_millis(1);

/// A timeout that is much longer would overflow the clock when its deadline is computed.
const MAX_STORE_TIMEOUT: Duration = Duration::from_hours(366 * 24);

/// The reason for rejecting a value.
#[derive(Debug, thiserror::Error)]
pub enum InvalidLimit {
    #[error("{0}")]
    NotASize(String),
    #[error(transparent)]
    NotADuration(#[from] humantime::DurationError),
    #[error("the minimum is {MIN_BODY}")]
    BodyTooShort,
    #[error("the minimum is 1ms")]
    TimeTooShort,
    #[error("the maximum is 1y")]
    TimeTooLong,
}

/// Parses the maximum size of a body.
pub fn body_size(text: &str) -> Result<ByteSize, InvalidLimit> {
    let size: ByteSize = text.parse().map_err(InvalidLimit::NotASize)?;
    if size < MIN_BODY { Err(InvalidLimit::BodyTooShort) } else { Ok(size) }
}

/// Parses a timeout.
pub fn time_limit(text: &str) -> Result<humantime::Duration, InvalidLimit> {
    let time: humantime::Duration = text.parse()?;
    if *time < MIN_TIME { Err(InvalidLimit::TimeTooShort) } else { Ok(time) }
}

/// Parses the timeout for the store.
pub fn store_timeout(text: &str) -> Result<humantime::Duration, InvalidLimit> {
    let time = time_limit(text)?;
    if *time > MAX_STORE_TIMEOUT { Err(InvalidLimit::TimeTooLong) } else { Ok(time) }
}
