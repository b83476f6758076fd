//! Several servers on one database answer as one server would.

use std::process::Stdio;
use std::thread;
use std::time::Duration;

use nix::sys::signal::Signal;
use plant_store_tests::postgres::Cluster;
use plant_store_tests::{
    Connection, Folder, Launched, Server, Starting, amount, bearer, plant, post,
};

use super::scene::{ANSWERS, Paused, as_owner, create_database, rounds};
use crate::hard_to_kill::load::{Answer, Load, count};

/// How long a create may take.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Two servers on the database `plants`.
fn two() -> (Cluster, [Server; 2]) {
    let cluster = Cluster::start();
    create_database(&cluster);
    let url = as_owner(&cluster.url("plants"));
    let flags = ["--store-timeout", "20s"];
    let first = Server::starting_in(Folder::over(&url)).with(&flags).start();
    let second = Starting::on(Folder::over(&url), &first.token).with(&flags).start();
    (cluster, [first, second])
}

#[test]
pub fn creates_that_race_on_two_servers_give_each_id_to_one_plant() {
    let (_cluster, [first, second]) = two();
    let mut load = Load::default();
    for _ in 0..rounds() {
        let sent = load.run_and_check(&[&first, &second], TIMEOUT, |progress| {
            progress.wait_for(4 * ANSWERS, Answer::Created);
        });
        assert_eq!([Answer::Refused, Answer::Lost].map(|kind| count(&sent, kind)), [0, 0]);
    }
}

#[test]
fn sigkill_of_a_server_under_load_loses_nothing_and_its_creates_succeed_on_the_other() {
    let (_cluster, [mut first, second]) = two();
    let mut load = Load::default();
    for _ in 0..rounds() {
        let sent = load.run_and_check(&[&first, &second], TIMEOUT, |progress| {
            progress.wait_for(ANSWERS, Answer::Created);
            first.signal(Signal::SIGKILL);
            progress.wait_for(ANSWERS, Answer::Created);
        });
        assert_eq!(count(&sent, Answer::Refused), 0);
        first = first.stopped_by(Signal::SIGKILL).start();
    }
}

/// Also while the table of plants is locked for long, as by `VACUUM FULL`.
#[test]
fn token_is_good_or_refused_on_every_server_when_the_command_returns() {
    let (cluster, [first, second]) = two();
    let session = cluster.session("plants");
    session.execute("BEGIN; LOCK plants IN ACCESS EXCLUSIVE MODE");
    for _ in 0..amount(2, 50) {
        let token = first.command(&["token", "create", "ci"]);
        let header = bearer(token.trim_end());
        // The token is looked at before the body, and a body that is refused needs no store.
        let answers = || [&first, &second].map(|server| server.create_with(&header, "{}").error());
        assert_eq!(answers(), [400; 2]);
        second.command(&["token", "revoke", "ci"]);
        assert_eq!(answers(), [401; 2]);
    }
}

/// It must not go on with what it knew before.
#[test]
fn revoked_token_is_not_accepted_by_a_server_that_was_paused_or_whose_database_crashed() {
    let (cluster, [first, second]) = two();
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
        first.wait_until("it reads the tokens", || {
            let answer = answer();
            assert!([401, 503].contains(&answer), "{answer}");
            answer == 401
        });
    }
}

#[test]
fn of_servers_that_start_together_one_creates_the_store_and_all_serve_it() {
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
        assert_eq!(session.value("SELECT count(*) FROM tokens"), "2", "one issued the first");
        assert_eq!(session.value("SELECT count(*) FROM plants"), "4");
    }
}

fn start(folder: &Folder) -> Launched {
    let mut command = folder.command();
    command.args(["serve", "--listen", "127.0.0.1:0"]).stderr(Stdio::null());
    Launched::start(&mut command).expect("it serves")
}

#[test]
fn server_that_cannot_read_the_tokens_for_two_seconds_answers_503_until_it_can() {
    let (cluster, [server, _other]) = two();
    let session = cluster.session("plants");
    let malformed = "INSERT INTO tokens (name, digest, first_characters, created_at) \
                     VALUES ('', '', '', 0)";
    session.execute(malformed);
    let status = || {
        let answer = server.create(&plant(1, "Ficus", None));
        if answer.status == 200 { 200 } else { answer.error() }
    };
    server.wait_until("it refuses", || {
        let status = status();
        assert!([200, 503].contains(&status), "{status}");
        status == 503
    });
    session.execute("DELETE FROM tokens WHERE name = ''");
    server.wait_until("it serves", || status() == 200);
}
