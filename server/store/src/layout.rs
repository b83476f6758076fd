//! The layout of a store, which both engines share.

/// The layout that this release reads and writes, in every engine.
pub const LAYOUT: u8 = 1;

/// The only layout in a database until a copy into it has ended.
pub const UNFINISHED: u8 = 0;
