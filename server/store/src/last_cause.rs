//! Why something fails that is tried again and again: the log has a cause that lasts once.

use crate::error::CommitError;

/// The cause of the last failure, as text; none after a success.
#[derive(Default)]
pub struct LastCause(Option<String>);

impl LastCause {
    /// Keeps the cause. Returns whether it is another one than before.
    pub fn is_new(&mut self, cause: &CommitError) -> bool {
        let said = Some(cause.to_string());
        let is_new = self.0 != said;
        self.0 = said;
        is_new
    }

    /// Forgets the cause after a success. Returns whether there was one.
    pub fn has_passed(&mut self) -> bool {
        self.0.take().is_some()
    }
}
