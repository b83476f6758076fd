//! Which layout of a store this release knows.

/// The layout that this release reads and writes, in every engine.
pub const LAYOUT: u8 = 1;

/// Alone in a database until a copy or a restore has filled it to its end.
pub const UNFINISHED: u8 = 0;
