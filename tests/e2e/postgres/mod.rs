//! Tests of PostgreSQL alone. Each test has a PostgreSQL server of its own, which it may stop.

mod contents;
mod refusals;
mod servers;
mod starts;

use plant_store_tests::postgres::{Cluster, Session};
use plant_store_tests::prelude::*;

/// Starts a cluster with the empty database `plants`, whose owner has no other rights. Returns the
/// cluster and the URL of the database for its owner.
pub fn cluster_with_database() -> (Cluster, String) {
    let cluster = Cluster::start();
    let on_each_node = |statement| {
        for node in cluster.nodes() {
            node.session("postgres").execute(statement);
        }
    };
    on_each_node("CREATE ROLE plants LOGIN");
    let url = as_owner(&cluster.create("plants"));
    on_each_node("ALTER DATABASE plants OWNER TO plants");
    (cluster, url)
}

/// Starts a server with these flags and an admin listener on a cluster of its own.
pub fn start(flags: &[&str]) -> (Cluster, Server) {
    let (cluster, url) = cluster_with_database();
    (cluster, Server::starting_in(Folder::over(&url)).with_admin().with(flags).start())
}

/// Returns the URL for the owner of the database.
pub fn as_owner(url: &str) -> String {
    url.replace("//postgres@", "//plants@")
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

/// Ends the sessions of the service.
pub const TERMINATE: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = 'plant-store'";
