//! Values of limits that would refuse every create, wait for ever, or overflow a clock: they are
//! refused on the command line.

use std::time::Duration;

use bytesize::ByteSize;

/// The length of `{"id":0,"name":""}`. With less, every create would be refused.
const SHORTEST_BODY: ByteSize = ByteSize::b(18);

const SHORTEST_TIME: Duration = Duration::from_millis(1);

/// The clock of the machine cannot hold the end of a time that is much longer.
const LONGEST_STORE_TIMEOUT: Duration = Duration::from_hours(366 * 24);

/// Why a value is refused.
#[derive(Debug, thiserror::Error)]
pub enum InvalidLimit {
    #[error("{0}")]
    NotASize(String),
    #[error(transparent)]
    NotADuration(#[from] humantime::DurationError),
    #[error("the least value is {SHORTEST_BODY}")]
    BodyTooShort,
    #[error("the least value is 1ms")]
    TimeTooShort,
    #[error("the largest value is 1y")]
    TimeTooLong,
}

/// The largest body that is taken.
pub fn body_size(text: &str) -> Result<ByteSize, InvalidLimit> {
    let size: ByteSize = text.parse().map_err(InvalidLimit::NotASize)?;
    if size < SHORTEST_BODY { Err(InvalidLimit::BodyTooShort) } else { Ok(size) }
}

/// How long something may take.
pub fn time_limit(text: &str) -> Result<humantime::Duration, InvalidLimit> {
    let time: humantime::Duration = text.parse()?;
    if *time < SHORTEST_TIME { Err(InvalidLimit::TimeTooShort) } else { Ok(time) }
}

/// How long a create may wait for the store.
pub fn store_timeout(text: &str) -> Result<humantime::Duration, InvalidLimit> {
    let time = time_limit(text)?;
    if *time > LONGEST_STORE_TIMEOUT { Err(InvalidLimit::TimeTooLong) } else { Ok(time) }
}
