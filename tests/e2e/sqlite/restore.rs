//! `server/RESTORE.md` on a file: a restore, an upgrade and the way back, a rescue.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use nix::sys::signal::Signal;
use plant_store_tests::{Server, plant};

use crate::database::STORE;
use crate::operators::machine::{Machine, block};

/// The backup that the page restores.
const BACKUP: &str = "plant-store-2026-11-20T030000Z.db";

/// A server with plant 1, which is in its backup, and plant 2, which came after it.
fn with_backup(machine: &Machine) -> Server {
    let server = Server::start();
    server.create(&plant(1, "Ficus", None)).plant();
    let backup = format!("sqlite:{}", machine.backup(BACKUP));
    server.command(&["copy", "--from", server.store(), "--to", &backup]);
    server.create(&plant(2, "Fern", None)).plant();
    server
}

fn ids(server: &Server) -> Vec<i64> {
    server.export().into_keys().collect()
}

/// The names in that folder that begin so, in their order.
fn names(folder: &Path, prefix: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the folder is there");
    let names = entries.map(|entry| entry.expect("an entry").file_name().into_string());
    let names = names.map(|name| name.expect("text")).filter(|name| name.starts_with(prefix));
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

#[test]
fn restore_brings_back_the_backup_and_what_came_after_it() {
    let machine = Machine::with(Vec::new());
    let server = machine.follow(&block("Restore"), with_backup(&machine));
    assert_eq!(ids(&server), [1]);
    // The tests have no `plants`; the import itself has tests of its own.
    machine.program("plants", "cp -n \"$2\" plants.jsonl");
    // A run that stopped may have left an empty folder.
    let mut put_away = names(server.folder(), "before-restore-");
    put_away.retain(|folder| server.folder().join(folder).join(STORE).exists());
    let after = block("Plants that came after the backup")
        .replace("before-restore-2026-11-21T090000Z", &put_away[0]);
    let server = machine.follow(&after, server);
    let plants = server.folder().join("plants.jsonl");
    let mode = plants.metadata().expect("a file").permissions().mode();
    assert_eq!(mode & 0o077, 0, "others may not read the plants");
    let plants = fs::read_to_string(plants).expect("plants");
    plants.lines().for_each(|line| drop(server.create(line).plant()));
    assert_eq!(ids(&server), [1, 2]);
}

#[test]
fn restore_that_was_stopped_after_it_moved_the_store_says_which_tokens_were_valid_until_then() {
    let machine = Machine::with(Vec::new());
    let server = with_backup(&machine);
    server.command(&["token", "create", "after-the-backup"]);
    machine.stops(&server);
    let restore = block("Restore");
    let lines: Vec<_> = restore.lines().collect();
    let moved =
        lines.iter().position(|line| line.starts_with("find ")).expect("it moves the store");
    for end in [moved, moved + 1] {
        let stopped = lines[..=end].join("\n") + "\n)";
        machine.run(server.folder(), &stopped).expect("it runs until there");
    }
    let said = machine.run(server.folder(), &restore).expect("it is restored");
    let (until_now, of_the_backup) = said.rsplit_once("tokens of ").expect("both lists");
    assert!(until_now.contains("after-the-backup"), "{said}");
    assert!(!of_the_backup.contains("after-the-backup"), "{said}");
}

#[test]
fn restore_of_what_is_no_backup_leaves_the_server_as_it_is() {
    let machine = Machine::with(Vec::new());
    let server = with_backup(&machine);
    fs::write(machine.backup(BACKUP), "somebody's").expect("a file");
    machine.program("systemctl", "exit 1");
    machine.run(server.folder(), &block("Restore")).expect_err("it is no backup");
    assert_eq!(names(server.folder(), "plant-store")[0], STORE);
    assert_eq!(ids(&server), [1, 2]);
}

#[test]
fn backup_is_made_beside_the_running_server() {
    let machine = Machine::with(Vec::new());
    let server = machine.follow(&block("Backup"), with_backup(&machine));
    let folder = machine.backup("");
    fs::remove_file(machine.backup(BACKUP)).expect("a file");
    let backup = format!("sqlite:{folder}{}", names(Path::new(&folder), "by-hand-")[0]);
    assert_eq!(server.command(&["export", "--store", &backup]), server.command(&["export"]));
}

#[test]
fn upgrade_and_the_way_back_keep_every_plant() {
    let machine = Machine::with(Vec::new());
    let upgrade = block("Upgrade");
    let server = machine.follow(&upgrade, with_backup(&machine));
    server.create(&plant(3, "Fern", None)).plant();
    let release =
        |name: &str| fs::read_to_string(machine.programs().join(name)).expect("a program");
    assert!(release("plant-store").contains("new"));
    let old = machine.programs().join(&names(&machine.programs(), "plant-store-")[0]);
    let back = upgrade.replace("target/release/plant-store", &old.display().to_string());
    let server = machine.follow(&back, server);
    assert!(release("plant-store").contains("old"));
    assert_eq!(ids(&server), [1, 2, 3]);
    let last = names(Path::new(&machine.backup("")), "before-upgrade-").pop().expect("a backup");
    let last = format!("sqlite:{}", machine.backup(&last));
    assert_eq!(server.command(&["export", "--store", &last]), server.command(&["export"]));
}

#[test]
fn killed_store_is_rescued_and_served() {
    let machine = Machine::with(Vec::new());
    let killed = with_backup(&machine).stopped_by(Signal::SIGKILL);
    machine.run(killed.folder(), &block("Rescue")).expect("it is rescued");
    let backups = machine.backup("");
    let rescued = &names(Path::new(&backups), "rescued-")[0];
    let server = machine.follow(&block("Restore").replace(BACKUP, rescued), killed.start());
    assert_eq!(ids(&server), [1, 2]);
}
