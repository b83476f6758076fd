//! What the setter of an optional member takes.

use std::convert::Infallible;
use std::fmt::Display;

/// A value for an optional member: what a required member of the type takes, or an `Option` of it.
/// The setters of the generated builders use it in place of `TryInto<Option<T>>`, which a `&str` is
/// not; so its method has that name.
pub trait IntoOptional<T> {
    /// Why the value cannot be converted.
    type Error: Display;

    /// The value, or `None` for an absent member.
    fn try_into(self) -> Result<Option<T>, Self::Error>;
}

impl<T> IntoOptional<T> for T {
    type Error = Infallible;

    fn try_into(self) -> Result<Option<T>, Infallible> {
        Ok(Some(self))
    }
}

impl<T> IntoOptional<T> for Option<T> {
    type Error = Infallible;

    fn try_into(self) -> Result<Self, Infallible> {
        Ok(self)
    }
}

impl IntoOptional<String> for &str {
    type Error = Infallible;

    fn try_into(self) -> Result<Option<String>, Infallible> {
        Ok(Some(self.to_owned()))
    }
}

impl IntoOptional<String> for Option<&str> {
    type Error = Infallible;

    fn try_into(self) -> Result<Option<String>, Infallible> {
        Ok(self.map(str::to_owned))
    }
}

#[cfg(test)]
mod tests;
