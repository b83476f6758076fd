//! A Citus coordinator with two workers.
//!
//! `PLANT_STORE_TESTS_CITUS=1 cargo test … -- --ignored postgres::`

use plant_store_tests::prelude::*;

use super::{cluster_with_database, start};
use crate::operators::copies::assert_copy_keeps_every_byte;

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
