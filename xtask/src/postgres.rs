//! The PostgreSQL of the tests.

use anyhow::Result;
use plant_store_launcher::postgres::{Cluster, TO_INSTALL, programs};

use crate::machine::need;

/// A server that the tests share. None where the machine has no PostgreSQL.
pub fn start() -> Result<Option<Cluster>> {
    Ok(is_there()?.then(Cluster::start))
}

/// Whether the machine has a PostgreSQL, which is installed where it may be. Where it has none, this
/// says so, and is an error in CI, which must test all.
pub fn is_there() -> Result<bool> {
    Ok(need("postgresql", programs, TO_INSTALL)?.is_some())
}
