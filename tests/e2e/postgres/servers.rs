//! Servers on a database of their own, with several hosts: silent hosts, and the workers of Citus.
//!
//! `PLANT_STORE_TESTS_CITUS=1 cargo test … -- --ignored postgres::`

use plant_store_tests::postgres::{Cluster, Link, Network, Session};
use plant_store_tests::prelude::*;

use crate::copies::assert_copy_keeps_every_byte;

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

/// Starts a server with two hosts in its URL. It finds the host that takes writes.
pub fn start_with_hosts(ports: [u16; 2], store_timeout: &str) -> Server {
    let [one, other] = ports;
    let url = format!("postgres://plants@127.0.0.1:{one},127.0.0.1:{other}/plants");
    Server::starting_in(Folder::over(&url)).with(&["--store-timeout", store_timeout]).start()
}

#[test]
fn silent_host_is_skipped_at_the_start() {
    let (cluster, _) = cluster_with_database();
    let link = Link::new(&cluster);
    link.set(Network::Stalled);
    let server = start_with_hosts([link.port(), cluster.port()], "5s");
    server.create(&plant(1, "Ficus", None)).plant();
    // When the server reconnects, it does not try the silent host first.
    cluster.session("plants").execute(TERMINATE);
    server.create(&plant(2, "Fern", None)).plant();
}

/// Connecting to the silent host takes as long as the timeout of reading the tokens, and longer
/// than the timeout of a create.
#[test]
fn host_that_becomes_silent_is_skipped() {
    let (cluster, _) = cluster_with_database();
    let link = Link::new(&cluster);
    let server = start_with_hosts([link.port(), cluster.port()], "1s");
    server.create(&plant(1, "Ficus", None)).plant();
    link.set(Network::Stalled);
    let is_created = || server.create(&plant(2, "Fern", None)).status == 200;
    server.wait_until("a create by the other host", is_created);
}

#[test]
#[ignore = "needs Citus"]
fn copy_to_shards_and_back_keeps_every_byte() {
    let (_cluster, url) = cluster_with_database();
    assert_copy_keeps_every_byte(Folder::over(&url));
}

#[test]
#[ignore = "needs Citus"]
fn check_names_a_worker_that_does_not_sync() {
    let (cluster, server) = start(&[]);
    let worker = cluster.nodes().last().expect("there are two workers");
    each_row(["fsync", "full_page_writes", "synchronous_commit"], |setting| {
        worker.set(setting, "off");
        let fault = format!("{setting}=off on its worker 127.0.0.1:{}", worker.port());
        server.run("check").failed(1, &fault);
        worker.set(setting, "on");
    });
    assert!(server.run("check").succeeded().contains("is sound"));
}
