//! The names of this service that a store contains or shows. Nothing else in this crate names the
//! service or its resource.

/// The table of the rows.
pub const TABLE: &str = "plants";

/// The table of a database that contains the number of the layout.
pub const LAYOUT_TABLE: &str = "plant_store_schema";

/// The first three bytes of `application_id` in an SQLite file.
pub const APPLICATION_ID: [u8; 3] = *b"PLS";

/// What a session with a database calls itself.
pub const APPLICATION: &str = "plant-store";
