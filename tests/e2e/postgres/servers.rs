//! Several servers on one database behave like one server.

use std::process::Stdio;
use std::thread;

use plant_store_tests::postgres::Cluster;
use plant_store_tests::{
    Connection, Folder, Launched, Server, Starting, amount, bearer, plant, post,
};

use super::scene::{Paused, as_owner, create_database};

/// Starts two servers on the database `plants`.
fn two_servers() -> (Cluster, [Server; 2]) {
    let cluster = Cluster::start();
    create_database(&cluster);
    let url = as_owner(&cluster.url("plants"));
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
        let cluster = Cluster::start();
        create_database(&cluster);
        let folders = [(); 4].map(|()| Folder::over(&as_owner(&cluster.url("plants"))));
        let servers = thread::scope(|scope| {
            folders
                .each_ref()
                .map(|folder| scope.spawn(|| start(folder)))
                .map(|start| start.join().expect("it started"))
        });
        let command = folders[0].command().args(["token", "create", "ci"]).output();
        let token = String::from_utf8(command.expect("it starts").stdout).expect("text");
        for (id, mut server) in (0..).zip(servers) {
            let request = post(&bearer(token.trim_end()), plant(id, "Ficus", None).as_bytes());
            assert_eq!(Connection::open(server.address).exchange(&request).status, 200);
            server.process.kill().expect("the process is ours");
            server.process.wait().expect("the process can be waited for");
        }
        let session = cluster.session("plants");
        assert_eq!(session.value("SELECT count(*) FROM tokens"), "2", "one server created `first`");
        assert_eq!(session.value("SELECT count(*) FROM plants"), "4");
    }
}

fn start(folder: &Folder) -> Launched {
    let mut command = folder.command();
    command.args(["serve", "--listen", "127.0.0.1:0"]).stderr(Stdio::null());
    Launched::start(&mut command).expect("it serves")
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
