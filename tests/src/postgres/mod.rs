//! A real, disposable PostgreSQL for the tests.
//!
//! Whatever happens to the test process, no server and no folder is left behind: see `cluster.rs`.
//! Failures panic with PostgreSQL's own message.

mod cluster;
mod link;
mod session;

use std::sync::LazyLock;

use tokio::runtime::{Builder, Runtime};

pub use cluster::Cluster;
pub use link::{Link, Network};
pub use session::Session;

/// The runtime of all sessions and links of the process, with one thread.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a thread")
});
