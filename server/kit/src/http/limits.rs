//! The limits of requests, as flags of `serve`.

use std::num::NonZeroU32;
use std::time::Duration;

use bytesize::ByteSize;
use clap::builder::TypedValueParser;
use clap::value_parser;

/// The length of `{}`. A smaller limit would refuse every body.
const MIN_BODY: ByteSize = ByteSize::b(2);

const MAX_BODY: ByteSize = ByteSize::gib(1);

const MIN_TIME: Duration = Duration::from_millis(1);

/// A timeout that is much longer would overflow the clock when its deadline is computed.
const MAX_STORE_TIMEOUT: Duration = Duration::from_hours(366 * 24);

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
    #[arg(long, value_name = "DURATION", value_parser = store_timeout, default_value = "5s")]
    pub store_timeout: humantime::Duration,
}

fn body_size(text: &str) -> Result<ByteSize, String> {
    match text.parse()? {
        size if size < MIN_BODY => Err(format!("the minimum is {MIN_BODY}")),
        size if size > MAX_BODY => Err(format!("the maximum is {MAX_BODY}")),
        size => Ok(size),
    }
}

fn time_limit(text: &str) -> Result<humantime::Duration, String> {
    let time: humantime::Duration = text.parse().map_err(|error| format!("{error}"))?;
    if *time < MIN_TIME { Err("the minimum is 1ms".into()) } else { Ok(time) }
}

fn store_timeout(text: &str) -> Result<humantime::Duration, String> {
    let time = time_limit(text)?;
    if *time > MAX_STORE_TIMEOUT { Err("the maximum is 1y".into()) } else { Ok(time) }
}

/// Parses an integer that is at least 1.
fn positive() -> impl TypedValueParser<Value = NonZeroU32> {
    value_parser!(u32).range(1..).try_map(NonZeroU32::try_from)
}
