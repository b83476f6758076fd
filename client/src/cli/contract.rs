//! The names that the generated commands import.

pub use crate::*;

/// A stand-in for the crate `schemars`. The generated commands require a schema for each value that
/// they print, and nothing here uses one.
pub mod schemars {
    pub trait JsonSchema {}
    impl<T> JsonSchema for T {}
}
