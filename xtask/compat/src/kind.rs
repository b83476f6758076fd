//! What happened at a place.

use serde::Serialize;
use strum::{Display, EnumString};

/// What happened at a place, as `rules.md` calls it.
#[derive(Clone, Copy, Debug, Display, EnumString, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Kind {
    /// Only the newer document has a value there.
    Added,
    /// Both documents have a value there, and the two differ.
    Changed,
    /// Only the older document has a value there.
    Removed,
}
