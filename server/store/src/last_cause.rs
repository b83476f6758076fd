//! Why something fails that is tried again and again: the log has a cause that lasts once.

use std::fmt::Display;

/// The cause of the last failure, as text; none after a success.
#[derive(Default)]
pub struct LastCause(Option<String>);

impl LastCause {
    /// Notes a failure. Returns whether its cause is another one than that of the last try.
    pub fn failed(&mut self, cause: &impl Display) -> bool {
        let said = Some(cause.to_string());
        let is_news = self.0 != said;
        self.0 = said;
        is_news
    }

    /// Notes a success. Returns whether the last try failed.
    pub fn succeeded(&mut self) -> bool {
        self.0.take().is_some()
    }
}

#[cfg(test)]
mod tests;
