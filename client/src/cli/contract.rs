//! What the generated commands use, under the names by which they use it.

pub use crate::*;

/// The generated commands ask for a schema of what they show. Nothing here uses one.
pub mod schemars {
    pub trait JsonSchema {}
    impl<T> JsonSchema for T {}
}
