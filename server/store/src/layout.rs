//! The version of a store's layout, which both engines share.

/// The layout version that this release reads and writes, in every engine.
pub const LAYOUT: u8 = 1;

/// The layout version of a database until a copy into it has finished.
pub const UNFINISHED: u8 = 0;
