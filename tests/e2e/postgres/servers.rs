//! Several servers on one database, and one server that finds its database among several hosts:
//! silent hosts, standbys and failovers.

use plant_store_tests::postgres::{Link, Network};
use plant_store_tests::prelude::*;

use super::{Paused, TERMINATE, cluster_with_database, start};

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
