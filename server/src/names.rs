//! The names by which this service is known. Each is defined here, once.

/// What every token begins with. Secret scanners look for it. If it changed, every token in use
/// would be malformed.
pub const TOKEN_PREFIX: &str = "pst_";

/// The realm of the challenge in a 401 (RFC 9110, section 11.5).
pub const REALM: &str = "plant-store";

/// What the variables of all flags begin with.
pub const VARIABLES: &str = "PLANT_STORE_";

/// What the names of all metrics begin with, before an underscore.
pub const METRICS: &str = "plant_store";
