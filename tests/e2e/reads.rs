//! `plant-store export` and `plant-store check`: their output and their exit codes. The tests of
//! each engine have stores that cannot be opened, for which the exit code of `check` is 2.

use std::io::{BufRead, BufReader};
use std::process::ChildStdout;

use plant_store_tests::prelude::*;
use plant_store_tests::process::Process;

use crate::database::{self, STORE, create, files};

/// An export that has written its first line, and is blocked because the pipe is full.
pub struct BlockedExport {
    pub process: Process,
    pub first_line: String,
    /// The other lines.
    rest: BufReader<ChildStdout>,
}

/// Starts an export and reads its first line.
pub fn start_export(server: &Server) -> BlockedExport {
    let mut process = Process::piped(&mut binary_in(server.folder(), "export"));
    let mut rest = BufReader::new(process.stdout.take().expect("standard output is piped"));
    let mut first_line = String::new();
    rest.read_line(&mut first_line).expect("standard output is text");
    BlockedExport { process, first_line, rest }
}

#[test]
fn export_into_a_closed_pipe_succeeds() {
    let server = Server::start();
    // More than fits into a pipe (64 KiB), so the export cannot end before somebody reads it.
    create(&server, 1..1001);
    let BlockedExport { process, first_line, rest } = start_export(&server);
    assert!(first_line.starts_with(r#"{"id":1,"#), "{first_line}");
    drop(rest);
    process.end().expect(0, "", "");
}

#[test]
fn export_to_a_full_device_fails() {
    let server = Server::start();
    server.create(&plant(1, "Ficus", None)).plant();
    let export = binary_in(server.folder(), "export");
    run(&mut to_full_device(&export)).failed(1, "No space left");
}

#[test]
fn check_of_a_sound_store_exits_0_and_changes_nothing() {
    let server = Server::start();
    server.create(&plant(1, "Fern", None)).plant();
    let stopped = server.stopped_by(Signal::SIGTERM);
    let before = files(stopped.folder());
    let stdout = stopped.run("check").succeeded();
    assert!(stdout.contains(" is sound; plants: 1, tokens: 1, "), "{stdout}");
    assert_eq!(stdout.lines().count(), 1, "{stdout}");
    if Engine::of_this_run() == Engine::Sqlite {
        assert!(before.keys().eq(["log", STORE]), "a stopped store is one file");
        assert!(stdout.contains(", size: ") && stdout.contains(", WAL: 0 B, "), "{stdout}");
    }
    assert!(files(stopped.folder()) == before, "check changes nothing");
}

/// Another program has changed the store. It is sound again after the repair.
#[test]
fn check_of_a_changed_store_exits_1_and_names_the_fault() {
    let server = Server::start();
    let rows = (
        r#"INSERT INTO plants (id, json)
            VALUES (5, '["Fern", "Ficus"]'), (6, '{"tag":"Ficus"}'), (7, 'Ficus')"#,
        "DELETE FROM plants",
        "rows that are not a plant: 3, for example the ids [5, 6, 7]",
    );
    let tables = match Engine::of_this_run() {
        Engine::Sqlite => vec![(
            "CREATE TABLE zones (id INTEGER)",
            "DROP TABLE zones",
            "these tables do not match layout version 1: zones",
        )],
        Engine::Postgres => vec![(
            "ALTER TABLE plants SET UNLOGGED",
            "ALTER TABLE plants SET LOGGED",
            "plants of the database is UNLOGGED",
        )],
    };
    each_row([rows].into_iter().chain(tables), |(fault, repair, expected)| {
        database::execute(&server, fault);
        let checked = server.run("check");
        database::execute(&server, repair);
        checked.failed(1, &format!("is not sound: {expected}"));
        server.run("check").succeeded();
    });
}
