//! The names of the service that a store contains or shows. Nothing else in this crate may name the
//! service or its resource.

/// The table of the rows.
pub const TABLE: &str = "plants";

/// The table of a database that contains the layout version.
pub const LAYOUT_TABLE: &str = "plant_store_schema";

/// The first three bytes of `application_id` in an SQLite file.
pub const APPLICATION_ID: [u8; 3] = *b"PLS";

/// The `application_name` of a session with a database.
pub const APPLICATION: &str = "plant-store";
