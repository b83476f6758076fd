//! What the values of flags may be, beyond what clap checks itself.

use std::num::NonZeroUsize;

use bytesize::ByteSize;
use humantime::Duration;

/// More threads than any machine needs that has one writer for them.
const MOST_THREADS: usize = 256;

/// A time that is not zero.
pub fn time(text: &str) -> Result<Duration, &'static str> {
    let time: Option<Duration> = text.parse().ok();
    time.filter(|time| !time.is_zero()).ok_or("expected a time longer than 0s, such as 10s")
}

/// A number of bytes that is not zero.
pub fn size(text: &str) -> Result<ByteSize, &'static str> {
    let size: Option<ByteSize> = text.parse().ok();
    size.filter(|size| size.as_u64() > 0).ok_or("expected a size of at least 1B, such as 64KiB")
}

/// A number of threads.
pub fn threads(text: &str) -> Result<NonZeroUsize, &'static str> {
    let threads: Option<NonZeroUsize> = text.parse().ok();
    threads.filter(|it| it.get() <= MOST_THREADS).ok_or("expected a number from 1 to 256")
}
