//! `plant-store check`: the exit codes 0 and 1, and what it reports. The tests of each engine have
//! stores that cannot be opened, for which the exit code is 2.

use plant_store_tests::prelude::*;

use crate::database::{self, STORE, create, files};

/// The store is checked while a server runs on it, and after the server has stopped.
#[test]
fn check_of_a_sound_store_exits_0_and_changes_nothing() {
    let server = Server::start();
    create(&server, 0..2000);
    let stdout = server.run("check").succeeded();
    assert!(stdout.contains(" is sound; plants: 2000, tokens: 1, "), "{stdout}");
    assert_eq!(stdout.lines().count(), 1, "{stdout}");
    server.create(&plant(2000, "Fern", None)).plant();

    let stopped = server.stopped_by(Signal::SIGTERM);
    let before = files(stopped.folder());
    let stdout = stopped.run("check").succeeded();
    assert!(stdout.contains(" is sound; plants: 2001, tokens: 1, "), "{stdout}");
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
