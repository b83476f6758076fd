//! Which layout of a store this release knows.

/// The layout that this release reads and writes, in every engine.
pub const LAYOUT: u8 = 1;
