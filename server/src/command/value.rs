//! What the values of flags may be. Each refusal says what is allowed.

use std::net::SocketAddr;
use std::num::{NonZeroU32, NonZeroUsize};
use std::str::FromStr;

use bytesize::ByteSize;
use clap::Arg;
use humantime::Duration;

/// More threads than any machine needs that has one writer for them.
const MOST_THREADS: u32 = 256;

/// The argument, which accepts what the name of its value says. A value may begin with a hyphen:
/// so a negative number is refused as a number, and not as an unknown flag.
pub fn in_range(arg: Arg) -> Arg {
    let name = arg.get_value_names().and_then(|names| names.first()).cloned().unwrap_or_default();
    let arg = match name.as_str() {
        "ADDRESS" => arg.value_parser(address),
        "CONNECTIONS" | "CREATES" => arg.value_parser(number::<NonZeroU32>(1, u32::MAX)),
        "DURATION" => arg.value_parser(time),
        "RECORDS" => arg.value_parser(number::<u32>(0, u32::MAX)),
        "SIZE" => arg.value_parser(size),
        "THREADS" => arg.value_parser(number::<NonZeroUsize>(1, MOST_THREADS)),
        _ => return arg,
    };
    arg.allow_hyphen_values(true)
}

fn address(text: &str) -> Result<SocketAddr, &'static str> {
    text.parse().map_err(|_| "expected IP:PORT, such as 127.0.0.1:8080")
}

/// A whole number in this range.
fn number<T: FromStr>(least: u32, most: u32) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| match text.parse::<i128>() {
        Ok(number) if number < least.into() => Err(format!("must be at least {least}")),
        Ok(number) if number > most.into() => Err(format!("must be at most {most}")),
        _ => text.parse().map_err(|_| "expected a whole number".to_owned()),
    }
}

/// A time that is not zero.
pub fn time(text: &str) -> Result<Duration, &'static str> {
    let time: Option<Duration> = text.parse().ok();
    time.filter(|time| !time.is_zero()).ok_or("expected a time longer than 0s, such as 10s")
}

/// A number of bytes that is not zero.
fn size(text: &str) -> Result<ByteSize, &'static str> {
    let size: Option<ByteSize> = text.parse().ok();
    size.filter(|size| size.as_u64() > 0).ok_or("expected a size of at least 1B, such as 1MiB")
}
