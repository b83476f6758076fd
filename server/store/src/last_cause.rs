//! Deduplicates the warnings of something that is tried again and again: a failure is reported when
//! it starts or changes, and not at every try.

use std::fmt::Display;

/// The cause of the last failure, as text; none after a success.
#[derive(Default)]
pub struct LastCause(Option<String>);

impl LastCause {
    /// Notes a failure. Returns whether the last try did not fail for the same cause.
    pub fn failed(&mut self, cause: &impl Display) -> bool {
        let cause = Some(cause.to_string());
        let is_news = self.0 != cause;
        self.0 = cause;
        is_news
    }

    /// Notes a success. Returns whether the last try failed.
    pub fn succeeded(&mut self) -> bool {
        self.0.take().is_some()
    }
}

#[cfg(test)]
mod tests;
