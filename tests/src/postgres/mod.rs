//! A real PostgreSQL that is thrown away after the tests.
//!
//! Whatever happens to the process that started it, no server and no folder is left: see
//! `keeper.rs`. What fails here panics, with what PostgreSQL says.

mod citus;
mod cluster;
mod databases;
mod keeper;
mod link;
mod port;
mod process;
mod session;
mod standby;

use std::sync::LazyLock;

use tokio::runtime::{Builder, Runtime};

pub use cluster::{Cluster, Mode};
pub use databases::Databases;
pub use link::{Cut, Link};
pub use session::Session;
pub use xtask::postgres::{TO_INSTALL, programs};

/// One thread for all sessions and links of the process.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a thread")
});
