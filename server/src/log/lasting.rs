//! A cause that lasts: it is said once, and not at each attempt that fails by it.

/// The cause that was said last.
#[derive(Default)]
pub struct Lasting(Option<String>);

impl Lasting {
    /// Whether to say this cause now, because the last one was another.
    pub fn is_new(&mut self, cause: &str) -> bool {
        let is_new = self.0.as_deref() != Some(cause);
        if is_new {
            self.0 = Some(cause.to_owned());
        }
        is_new
    }

    /// The cause is gone: if it comes back it is said again. Returns whether there was one.
    pub fn ends(&mut self) -> bool {
        self.0.take().is_some()
    }
}
