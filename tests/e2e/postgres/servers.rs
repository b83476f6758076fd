//! Several servers on one database, and one server on several databases: silent hosts, a standby,
//! and the workers of Citus.
//!
//! `PLANT_STORE_TESTS_CITUS=1 cargo test … -- --ignored postgres::`

use plant_store_tests::postgres::{Cluster, Link, Network};
use plant_store_tests::prelude::*;
use plant_store_tests::process::Paused;

use super::{TERMINATE, cluster_with_database, start};
use crate::copies::assert_copy_keeps_every_byte;

/// A server that was paused, or whose database crashed, must not use the tokens that it read
/// before.
#[test]
fn revoked_token_stays_refused_after_a_pause_or_a_crash() {
    let (cluster, first) = start(&[]);
    let second = Starting::on(Folder::over(first.store()), &first.token).start();
    for crashes in [false, true] {
        let token = first.run("token create ci").succeeded();
        let pause = (!crashes).then(|| Paused::pause(first.pid()));
        second.run("token revoke ci").succeeded();
        if crashes {
            cluster.stop("immediate");
            cluster.start_again();
        }
        drop(pause);
        let answer = || first.create_with(&bearer(token.trim_end()), "{}").error();
        first.wait_until("a fresh read of the tokens", || {
            let answer = answer();
            assert!([401, 503].contains(&answer), "{answer}");
            answer == 401
        });
    }
}

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

/// A repeat and a conflict are 503, too, because they depend on a row that the standby may not
/// have.
#[test]
fn create_is_503_while_the_standby_is_down() {
    let (primary, _) = cluster_with_database();
    let standby = primary.standby();
    let server = start_with_hosts([&primary, &standby].map(Cluster::port), "1s");
    let has = |cluster: &Cluster, id| {
        let count = format!("SELECT count(*) FROM plants WHERE id = {id}");
        cluster.session("plants").value(&count) == "1"
    };
    let [ficus, fern] = [plant(1, "Ficus", None), plant(2, "Fern", None)];
    server.create(&ficus).plant();
    standby.stop("fast");
    assert_eq!(server.create(&fern).error(), 503);
    assert!(has(&primary, 2), "the cancelled wait has made the row visible");
    for repeated in [&fern, &ficus] {
        assert_eq!(server.create(repeated).error(), 503);
    }
    let other = plant(2, "Ivy", None);
    assert_eq!(server.create(&other).error(), 503, "a conflict depends on the same row");
    standby.start_again();
    primary.wait_for_standby();
    server.create(&fern).plant();
    assert_eq!(server.create(&other).error(), 409);
    assert!(has(&standby, 2));
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
