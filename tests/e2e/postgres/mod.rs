//! Tests of PostgreSQL alone. Each test has a PostgreSQL server of its own, which it may stop and
//! kill.

mod citus;
mod contents;
mod refusals;
mod servers;
mod standbys;
mod starts;

use std::net::SocketAddr;

use nix::sys::signal::kill;
use nix::unistd::Pid;
use plant_store_tests::postgres::{Cluster, Session};
use plant_store_tests::prelude::*;
use plant_store_tests::process::state;

use crate::metrics::{metrics_address, scrape, series};

/// A server on a cluster of its own.
pub struct Scene {
    pub cluster: Cluster,
    pub server: Server,
    metrics: SocketAddr,
}

impl Scene {
    /// Starts a new cluster and a server on it. `timeout` is the timeout of a create in seconds.
    pub fn start(timeout: u64) -> Self {
        let cluster = Cluster::start();
        create_database(&cluster);
        Self::over(cluster, timeout)
    }

    /// Starts a server on the database `plants` of an existing cluster.
    pub fn over(cluster: Cluster, timeout: u64) -> Self {
        let server = Server::starting_in(Folder::over(&as_owner(&cluster.url("plants"))))
            .with(&["--store-timeout", &format!("{timeout}s"), "--metrics", "127.0.0.1:0"])
            .start();
        let metrics = metrics_address(&server);
        Self { cluster, server, metrics }
    }

    /// Returns how often the service has retried work on the database.
    pub fn retries(&self) -> u64 {
        let scrape = scrape(self.metrics);
        series(&scrape)["plant_store_database_retries_total"].parse().expect("a count")
    }
}

/// Waits until a statement of the service is blocked by a lock of the session `holder`.
pub fn wait_until_blocked_by(holder: &Session, cluster: &Cluster) {
    let session = cluster.session("postgres");
    let query = format!(
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'plant-store'
         AND {} = ANY (pg_blocking_pids(pid))",
        holder.value("SELECT pg_backend_pid()")
    );
    wait_until(|| session.value(&query) == "1", || "no statement waits for the lock".into());
}

/// Creates the database `plants` and its owner, who has no other rights.
pub fn create_database(cluster: &Cluster) {
    let on_each_node = |statement| {
        for node in cluster.nodes() {
            node.session("postgres").execute(statement);
        }
    };
    on_each_node("CREATE ROLE plants LOGIN");
    cluster.create("plants");
    on_each_node("ALTER DATABASE plants OWNER TO plants");
}

/// Starts a cluster with the empty database `plants`. Returns the cluster and the URL of the
/// database for its owner.
pub fn cluster_with_database() -> (Cluster, String) {
    let cluster = Cluster::start();
    create_database(&cluster);
    let url = as_owner(&cluster.url("plants"));
    (cluster, url)
}

/// Ends the sessions of the service.
pub const TERMINATE: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = 'plant-store'";

/// Counts the tables.
pub const TABLES: &str = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'";

/// A process that was stopped by SIGSTOP. It continues when this is dropped.
pub struct Paused(Pid);

impl Paused {
    pub fn pause(process: Pid) -> Self {
        kill(process, Signal::SIGSTOP).expect("the process is running");
        // An ended process cannot be stopped.
        wait_until(|| matches!(state(process), 'T' | 'Z'), || "it does not stop".into());
        Self(process)
    }
}

impl Drop for Paused {
    fn drop(&mut self) {
        let _ = kill(self.0, Signal::SIGCONT);
    }
}

/// Returns the URL for the owner of the database.
pub fn as_owner(url: &str) -> String {
    url.replace("//postgres@", "//plants@")
}
