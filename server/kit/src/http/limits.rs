//! The limits of requests, as flags of `serve`.

use std::num::NonZeroU32;
use std::ops::RangeInclusive;
use std::time::Duration;

use bytesize::ByteSize;
use clap::builder::TypedValueParser;
use clap::value_parser;

/// A body is held in memory, so a much larger limit would end the process before the body ends.
const MAX_BODY: ByteSize = ByteSize::gib(1);

/// PostgreSQL takes 0 for no limit. A limit that is much longer would overflow the clock when its
/// deadline is computed.
const TIME_LIMITS: RangeInclusive<Duration> =
    Duration::from_millis(1)..=Duration::from_hours(366 * 24);

/// The limits of requests.
#[derive(clap::Args, Clone, Debug)]
pub struct Limits {
    /// Maximum size of a request body
    #[arg(long, value_name = "SIZE", value_parser = body_size, default_value = "64KiB")]
    pub max_body: ByteSize,

    /// Maximum number of creates in the service at a time; one token may have half of them. Further
    /// creates are refused with `error` 503
    #[arg(long, value_name = "CREATES", value_parser = positive(), default_value = "1024")]
    pub max_creates: NonZeroU32,

    /// How long a request body may take to arrive
    #[arg(long, value_name = "DURATION", value_parser = time_limit, default_value = "10s")]
    pub body_timeout: humantime::Duration,

    /// How long a create may wait for the store before it is refused with `error` 503; the
    /// {resource} may or may not be stored
    #[arg(long, value_name = "DURATION", value_parser = time_limit, default_value = "5s")]
    pub store_timeout: humantime::Duration,
}

fn body_size(text: &str) -> Result<ByteSize, String> {
    let size = text.parse()?;
    if size > MAX_BODY { Err(format!("the maximum is {MAX_BODY}")) } else { Ok(size) }
}

fn time_limit(text: &str) -> Result<humantime::Duration, String> {
    let time: humantime::Duration = text.parse().map_err(|error| format!("{error}"))?;
    if TIME_LIMITS.contains(&*time) { Ok(time) } else { Err("expected 1ms to 1y".into()) }
}

/// Parses an integer that is at least 1.
fn positive() -> impl TypedValueParser<Value = NonZeroU32> {
    value_parser!(u32).range(1..).try_map(NonZeroU32::try_from)
}
