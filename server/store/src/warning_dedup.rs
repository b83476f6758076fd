//! Deduplication of the warnings of an operation that is retried: a failure is logged when it
//! starts or when its cause changes, not on every attempt.

use std::fmt::Display;

/// Deduplicates warnings by remembering the cause of the last failure. `None` after a success.
#[derive(Default)]
pub struct WarningDedup(Option<String>);

impl WarningDedup {
    /// Records a failure. Returns `true` if it has to be logged: the last attempt succeeded, or
    /// failed for another cause.
    pub fn failed(&mut self, cause: &impl Display) -> bool {
        let cause = Some(cause.to_string());
        let is_new = self.0 != cause;
        self.0 = cause;
        is_new
    }

    /// Records a success. Returns `true` if the last attempt failed.
    pub fn succeeded(&mut self) -> bool {
        self.0.take().is_some()
    }
}

#[cfg(test)]
mod tests;
