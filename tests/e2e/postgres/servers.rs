//! Several servers on one database answer as one server would.

use std::process::Stdio;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use plant_store_launcher::{Launched, token};
use plant_store_tests::postgres::Cluster;
use plant_store_tests::{
    Connection, EVENT_TIMEOUT, Folder, Server, Starting, amount, bearer, plant, post, wait_until,
};

use super::load::Load;
use super::scene::{ANSWERS, as_owner, create_database, rounds};

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
    let (_cluster, servers) = two();
    let mut load = Load::default();
    for _ in 0..rounds() {
        let [first, second] = &servers;
        let sent = load.run(&[first, second], |progress| progress.wait_for_answers(4 * ANSWERS));
        println!("race: {sent}");
        assert_eq!((sent.refused(), sent.lost()), (0, 0));
        load.check(first, &sent, TIMEOUT);
    }
}

#[test]
fn sigkill_of_a_server_under_load_loses_nothing_and_its_creates_succeed_on_the_other() {
    let (_cluster, [mut first, second]) = two();
    let mut load = Load::default();
    for _ in 0..rounds() {
        let sent = load.run(&[&first, &second], |progress| {
            progress.wait_for_answers(ANSWERS);
            first.signal(Signal::SIGKILL);
            progress.wait_for_answers(ANSWERS);
        });
        println!("SIGKILL of a server: {sent}");
        assert_eq!(sent.refused(), 0);
        load.check(&second, &sent, TIMEOUT);
        first = first.stopped_by(Signal::SIGKILL).start();
    }
}

#[test]
fn token_is_good_or_refused_on_every_server_when_the_command_returns() {
    let (_cluster, [first, second]) = two();
    for round in 0..amount(5, 100) {
        let token = first.command(&["token", "create", "ci"]);
        let header = bearer(token.trim_end());
        let body = plant(round.try_into().expect("a small number"), "Ficus", None);
        for server in [&first, &second] {
            server.create_with(&header, &body).plant();
        }
        second.command(&["token", "revoke", "ci"]);
        for server in [&first, &second] {
            assert_eq!(server.create_with(&header, &body).refusal().0, 401);
        }
    }
}

/// It counts as gone after four seconds, and the command gives up after five.
#[test]
fn token_command_goes_on_without_a_server_that_was_killed() {
    let (_cluster, [first, second]) = two();
    first.signal(Signal::SIGKILL);
    let begun = Instant::now();
    let token = second.command(&["token", "create", "ci"]);
    println!("token create: {:?}", begun.elapsed());
    second.create_with(&bearer(token.trim_end()), &plant(1, "Ficus", None)).plant();
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
        let started = servers.each_ref().map(|server| (server.address, server.process.id()));
        let (sender, printed) = mpsc::channel();
        let readers = servers.map(|mut server| {
            let sender = sender.clone();
            thread::spawn(move || {
                let line = server.first_request().expect("standard output is text");
                sender.send(line).expect("the test waits for all lines");
                server
            })
        });
        let line = printed.recv_timeout(EVENT_TIMEOUT).expect("one server prints a token");
        let header = bearer(token(&line).expect("a token"));
        for (id, (address, _)) in (0..).zip(started) {
            let request = post(&header, plant(id, "Ficus", None).as_bytes());
            // It reads the new token within a tenth of a second.
            let create = || Connection::open(address).exchange(&request).status;
            wait_until(|| create() == 200, || format!("server {id} does not serve"));
        }
        for (_, process) in started {
            let process = Pid::from_raw(process.try_into().expect("a process id"));
            kill(process, Signal::SIGKILL).expect("the process is there");
        }
        for reader in readers {
            reader.join().expect("it has read");
        }
        assert_eq!(printed.try_iter().collect::<Vec<_>>(), [""; 3], "one has created the store");
        let session = cluster.session("plants");
        assert_eq!(session.value("SELECT count(*) FROM tokens"), "1");
        assert_eq!(session.value("SELECT count(*) FROM plants"), "4");
    }
}

fn start(folder: &Folder) -> Launched {
    let mut command = folder.command();
    command.args(["serve", "--listen", "127.0.0.1:0"]).stderr(Stdio::null());
    Launched::start(&mut command).expect("it serves")
}

/// A command that changes the tokens does not wait for a server that has not said that it is there.
#[test]
fn server_that_starts_answers_only_once_the_token_commands_know_it() {
    let (cluster, [first, second]) = two();
    drop(first.stopped_by(Signal::SIGTERM));
    let stopped = second.stopped_by(Signal::SIGTERM);
    let session = cluster.session("plants");
    session.execute("BEGIN; LOCK servers IN EXCLUSIVE MODE");
    let server = stopped.start();
    let token = server.command(&["token", "create", "ci"]);
    let answer = || server.create_with(&bearer(token.trim_end()), "{}").refusal().0;
    assert_eq!(answer(), 503);
    session.execute("ROLLBACK");
    server.wait_until("it serves", || {
        let status = answer();
        assert_ne!(status, 401);
        status == 400
    });
}

/// A token command does not wait for such a server any more.
#[test]
fn server_that_cannot_read_the_tokens_for_four_seconds_answers_503_until_it_can() {
    let (cluster, [server, _other]) = two();
    let session = cluster.session("plants");
    let malformed = "INSERT INTO tokens (name, digest, first_characters, created_at) \
                     VALUES ('', '', '', 0)";
    session.execute(malformed);
    let status = || {
        let answer = server.create(&plant(1, "Ficus", None));
        if answer.status == 200 { 200 } else { answer.refusal().0 }
    };
    server.wait_until("it refuses", || {
        let status = status();
        assert!([200, 503].contains(&status), "{status}");
        status == 503
    });
    session.execute("DELETE FROM tokens WHERE name = ''");
    server.wait_until("it serves", || status() == 200);
}

/// A change of the schema, or `VACUUM FULL`, keeps the table of plants to itself for long.
#[test]
fn token_is_good_or_refused_on_every_server_also_while_plants_cannot_be_read() {
    let (cluster, [first, second]) = two();
    let session = cluster.session("plants");
    session.execute("BEGIN; LOCK plants IN ACCESS EXCLUSIVE MODE");
    let (mut refused, mut accepted) = (0, 0);
    for _ in 0..amount(10, 100) {
        let token = first.command(&["token", "create", "ci"]);
        let header = bearer(token.trim_end());
        // The token is looked at before the body, and a body that is refused needs no store.
        let answer = |server: &Server| server.create_with(&header, "{}").refusal().0;
        refused += [&first, &second].iter().filter(|server| answer(server) == 401).count();
        second.command(&["token", "revoke", "ci"]);
        accepted += [&first, &second].iter().filter(|server| answer(server) == 400).count();
    }
    assert_eq!((refused, accepted), (0, 0), "refused once created, accepted once revoked");
}
