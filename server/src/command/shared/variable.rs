//! The variables of the environment: each flag that can be set there has one, named like the flag.

/// What the variables of all flags begin with.
pub const PREFIX: &str = "PLANT_STORE_";

/// The variable of the flag with that long name: that of --max-body is `PLANT_STORE_MAX_BODY`.
pub fn of_flag(long: &str) -> String {
    let name = long.replace('-', "_").to_uppercase();
    format!("{PREFIX}{name}")
}
