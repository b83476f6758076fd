//! Several servers on one database behave like one server, and one server finds its database among
//! several hosts: silent hosts, standbys and failovers.

use plant_store_tests::postgres::{Cluster, Link, Network};
use plant_store_tests::prelude::*;

use super::{Paused, TERMINATE, cluster_with_database};

/// Starts two servers on the database `plants`.
fn two_servers() -> (Cluster, [Server; 2]) {
    let (cluster, url) = cluster_with_database();
    let flags = ["--store-timeout", "20s"];
    let first = Server::starting_in(Folder::over(&url)).with(&flags).start();
    let second = Starting::on(Folder::over(&url), &first.token).with(&flags).start();
    (cluster, [first, second])
}

/// The table of plants is locked for a long time, as `VACUUM FULL` would do.
#[test]
fn token_change_is_in_force_on_every_server_when_it_returns() {
    let (cluster, [first, second]) = two_servers();
    let session = cluster.session("plants");
    session.execute("BEGIN; LOCK plants IN ACCESS EXCLUSIVE MODE");
    for _ in 0..amount(2, 50) {
        let token = first.command(&["token", "create", "ci"]);
        let header = bearer(token.trim_end());
        // The token is checked before the body, and refusing a body does not need the store.
        let answers = || [&first, &second].map(|server| server.create_with(&header, "{}").error());
        assert_eq!(answers(), [400; 2]);
        second.command(&["token", "revoke", "ci"]);
        assert_eq!(answers(), [401; 2]);
    }
}

/// A server that was paused, or whose database crashed, must not use the tokens that it read
/// before.
#[test]
fn revoked_token_stays_refused_after_a_pause_or_a_crash() {
    let (cluster, [first, second]) = two_servers();
    for crashes in [false, true] {
        let token = first.command(&["token", "create", "ci"]);
        let pause = (!crashes).then(|| Paused::pause(first.pid()));
        second.command(&["token", "revoke", "ci"]);
        if crashes {
            cluster.kill();
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

#[test]
fn servers_that_start_together_create_one_store() {
    for _ in 0..amount(2, 20) {
        let (cluster, url) = cluster_with_database();
        let folders = [(); 4].map(|()| Folder::over(&url));
        let start = |folder: &Folder| {
            let mut serve = folder.command();
            serve.arg("serve").stderr(Stdio::null());
            Launched::start(&mut serve).expect("it serves")
        };
        let servers = thread::scope(|scope| {
            let starting = folders.each_ref().map(|folder| scope.spawn(|| start(folder)));
            starting.map(|start| start.join().expect("it started"))
        });
        let token = run(folders[0].command().args(["token", "create", "ci"])).succeeded();
        for (id, server) in (0..).zip(servers) {
            let request = post(&bearer(token.trim_end()), plant(id, "Ficus", None).as_bytes());
            assert_eq!(Connection::open(server.address).exchange(&request).status, 200);
        }
        let session = cluster.session("plants");
        assert_eq!(session.value("SELECT count(*) FROM tokens"), "2", "one server created `first`");
        assert_eq!(session.value("SELECT count(*) FROM plants"), "4");
    }
}

#[test]
fn create_is_503_while_the_tokens_cannot_be_read() {
    let (cluster, [server, _other]) = two_servers();
    let session = cluster.session("plants");
    let malformed = "INSERT INTO tokens (name, digest, first_characters, created_at) \
                     VALUES ('', '', '', 0)";
    session.execute(malformed);
    let status = || {
        let answer = server.create(&plant(1, "Ficus", None));
        if answer.status == 200 { 200 } else { answer.error() }
    };
    server.wait_until("a refusal", || {
        let status = status();
        assert!([200, 503].contains(&status), "{status}");
        status == 503
    });
    session.execute("DELETE FROM tokens WHERE name = ''");
    server.wait_until("a created plant", || status() == 200);
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

#[test]
fn token_command_finds_the_primary_behind_a_standby() {
    let (primary, _) = cluster_with_database();
    let standby = primary.standby("s1");
    let server = start_with_hosts([standby.port(), primary.port()], "5s");
    server.command(&["token", "create", "ci"]);
    server.command(&["token", "revoke", "ci"]);
    assert!(!server.command(&["token", "list"]).contains("ci"));
}
