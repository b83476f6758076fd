//! `server/RESTORE.md` on a file: a restore, an upgrade and the way back, a rescue.

use std::fs;

use nix::sys::signal::Signal;
use plant_store_tests::{Server, plant};

use crate::operators::restore::{Place, block};

/// A server with plant 1, which is in its backup, and plant 2, which came after it.
fn with_backup(place: &Place) -> Server {
    let server = Server::start();
    server.create(&plant(1, "Ficus", None)).plant();
    let backup = format!("sqlite:{}", place.backup("2026-11-20.db"));
    server.command(&["copy", "--from", server.store(), "--to", &backup]);
    server.create(&plant(2, "Fern", None)).plant();
    server
}

fn ids(server: &Server) -> Vec<i64> {
    server.export().into_keys().collect()
}

/// The tests have no `plants`; the import itself has tests of its own.
fn send(server: &Server, plants: &str) {
    for line in plants.lines() {
        server.create(line).plant();
    }
}

#[test]
fn restore_brings_back_the_backup_and_what_came_after_it() {
    for section in ["Restore in a folder", "Restore under systemd"] {
        let place = Place::with(Vec::new());
        let server = place.follow(section, with_backup(&place));
        assert_eq!(ids(&server), [1], "{section}");
        let after = block("Plants that came after the backup");
        let export = after.trim_end().strip_suffix("\nplants import plants.jsonl");
        place.run(server.folder(), export.expect("an export and an import"));
        let plants = fs::read_to_string(server.folder().join("plants.jsonl")).expect("plants");
        send(&server, &plants);
        assert_eq!(ids(&server), [1, 2], "{section}");
    }
}

#[test]
fn backup_is_made_beside_the_running_server() {
    let place = Place::with(Vec::new());
    let server = Server::start();
    let page = crate::without_store::readmes::text("server/RESTORE.md");
    let (_, first) = page.split_once("```sh\n").expect("a block");
    place.run(server.folder(), first.split("```").next().expect("commands"));
    assert!(fs::exists(place.backup("2026-11-20.db")).expect("a folder"));
}

#[test]
fn upgrade_and_the_way_back_keep_every_plant() {
    let place = Place::with(Vec::new());
    let server = place.follow("Upgrade", with_backup(&place));
    server.create(&plant(3, "Fern", None)).plant();
    let server = place.follow("Back", server);
    assert_eq!(ids(&server), [1, 2, 3]);
}

#[test]
fn killed_store_is_rescued() {
    let place = Place::with(Vec::new());
    let killed = with_backup(&place).stopped_by(Signal::SIGKILL);
    place.run(killed.folder(), &block("Rescue"));
    let rescued = format!("sqlite:{}", place.backup("rescued.db"));
    let server = killed.start();
    assert_eq!(server.command(&["export", "--store", &rescued]), server.command(&["export"]));
}
