//! A limit on the records of requests that were refused without an accepted token, so that a
//! stranger cannot fill the disk that holds the log.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use slog::{Drain, Level, Never, OwnedKVList, Record, b, o, record};

/// The tag of such a record.
pub const STRANGER: &str = "stranger";

const LEFT_OUT: &str = "requests without an accepted token: records left out";

const SECOND: Duration = Duration::from_secs(1);

/// A drain that passes on so many tagged records a second, and then says how many it left out.
pub struct LimitStrangers<D> {
    drain: D,
    /// The most tagged records of a second.
    limit: u32,
    second: Mutex<Second>,
}

struct Second {
    began: Instant,
    passed: u32,
    left_out: u32,
}

impl<D: Drain<Ok = (), Err = Never>> LimitStrangers<D> {
    pub fn new(drain: D, limit: u32) -> Self {
        let second = Mutex::new(Second { began: Instant::now(), passed: 0, left_out: 0 });
        Self { drain, limit, second }
    }

    /// Whether one more may pass, and how many were left out of a second that has ended.
    fn count(&self) -> (bool, u32) {
        let mut second = self.second.lock().unwrap_or_else(PoisonError::into_inner);
        let mut left_out = 0;
        if second.began.elapsed() >= SECOND {
            left_out = second.left_out;
            *second = Second { began: Instant::now(), passed: 0, left_out: 0 };
        }
        let passes = second.passed < self.limit;
        match passes {
            true => second.passed += 1,
            false => second.left_out += 1,
        }
        (passes, left_out)
    }
}

impl<D: Drain<Ok = (), Err = Never>> Drain for LimitStrangers<D> {
    type Ok = ();
    type Err = Never;

    fn log(&self, record: &Record<'_>, values: &OwnedKVList) -> Result<(), Never> {
        if record.tag() != STRANGER {
            return self.drain.log(record, values);
        }
        let (passes, left_out) = self.count();
        if left_out > 0 {
            self.drain.log(
                &record!(
                    Level::Warning,
                    "",
                    &format_args!("{LEFT_OUT}"),
                    b!("left_out" => left_out)
                ),
                &o!().into(),
            )?;
        }
        match passes {
            true => self.drain.log(record, values),
            false => Ok(()),
        }
    }
}
