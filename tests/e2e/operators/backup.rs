//! The script that makes a backup each night, with the environment that cron has.

use std::fs;
use std::os::unix::fs::symlink;

use plant_store_tests::{Server, plant};

use super::machine::{Machine, block};
use crate::without_store::readmes::text;

#[test]
fn backup_script_keeps_the_last_ones_and_fails_if_there_are_fewer_plants() {
    let machine = Machine::with(Vec::new());
    machine.program("backup", &text("server/deploy/plant-store-backup.sh"));
    let folder = machine.backup("");
    let script = format!("env -i PATH=/usr/local/bin:/bin KEEP=2 METRICS={folder}");
    let backup = |server: &Server| {
        machine.run(
            server.folder(),
            &format!("{script} PLANT_STORE_STORE='{}' backup '' '{folder}'", server.store()),
        )
    };
    let backups = || -> Vec<_> {
        super::files(folder.as_ref()).into_keys().filter(|name| name.contains("Z.db")).collect()
    };
    let server = Server::start();
    for id in 0..3 {
        server.create(&plant(id, "Ficus", None)).plant();
        backup(&server).expect("a backup");
    }
    let kept = backups();
    assert_eq!(kept.len(), 2);
    let last = format!("sqlite:{folder}{}", kept[1]);
    assert_eq!(server.command(&["export", "--store", &last]), server.command(&["export"]));
    let metrics = fs::read_to_string(machine.backup("plant-store-backup.prom")).expect("a file");
    assert!(metrics.contains("\nplant_store_backup_timestamp_seconds 1"), "{metrics}");
    let other = Server::start();
    machine.program("date", "echo 2026-11-20T030000Z");
    fs::write(machine.backup("plant-store-2026-11-20T030000Z.db"), "another's").expect("a file");
    for expected in ["is there already, perhaps of another store", "there is something at"] {
        let said = backup(&other).expect_err("the name is taken");
        assert!(said.contains(expected), "{said}");
    }
    machine.program("date", "echo 2026-11-20T030001Z");
    let said = backup(&other).expect_err("there are fewer plants");
    assert!(said.contains("has 0 plants and had 3") && said.contains("remove "), "{said}");
    let elsewhere = format!("backup '{}' '{folder}unmounted'", other.store());
    let said = machine.run(other.folder(), &elsewhere).expect_err("there is no such folder");
    assert!(said.contains("is it mounted?"), "{said}");
    assert!(kept.iter().all(|name| backups().contains(name)), "none is removed");
}

#[test]
fn backup_script_with_a_keep_that_is_no_number_from_1_makes_no_backup_and_says_so() {
    let server = Server::start();
    let machine = Machine::with(Vec::new());
    machine.program("backup", &text("server/deploy/plant-store-backup.sh"));
    for keep in ["0", "x", "-1", "1.5", "00"] {
        let backup = format!("KEEP={keep} backup '{}' '{}'", server.store(), machine.backup(""));
        let said = machine.run(server.folder(), &backup).expect_err("it is no number from 1");
        assert!(said.contains(&format!("a number from 1, not '{keep}'")), "{said}");
    }
    assert!(super::files(machine.backup("").as_ref()).is_empty());
}

#[test]
fn backup_script_that_is_run_by_a_link_finds_the_binary_beside_the_script() {
    let server = Server::start();
    let machine = Machine::with(Vec::new());
    machine.program("backup", &text("server/deploy/plant-store-backup.sh"));
    symlink(machine.programs().join("backup"), machine.backup("daily")).expect("a link");
    let backup = format!(
        "env -i PATH=/bin '{}' '{}' '{}'",
        machine.backup("daily"),
        server.store(),
        machine.backup("")
    );
    let said = machine.run(server.folder(), &backup).expect("a backup");
    assert!(said.contains("is sound; plants: 0"), "{said}");
}

/// What the blocks of the page have made stays, however many nights come after it.
#[test]
fn backup_script_removes_no_file_that_a_block_of_the_page_has_made() {
    let server = Server::start();
    let machine = Machine::with(Vec::new());
    machine.program("backup", &text("server/deploy/plant-store-backup.sh"));
    let blocks = ["Backup", "Upgrade", "Rescue"].map(block).concat();
    let names = blocks.split("/var/backups/plant-store/").skip(1);
    let prefixes = names.filter_map(|name| Some(name.split_once('$')?.0));
    let by_hand: Vec<_> =
        prefixes.map(|prefix| machine.backup(&format!("{prefix}2026-11-20T020000Z.db"))).collect();
    assert!(by_hand.len() >= 3, "{by_hand:?}");
    for file in &by_hand {
        fs::write(file, "by hand").expect("a file");
    }
    for _ in 0..3 {
        let backup = format!("KEEP=1 backup '{}' '{}'", server.store(), machine.backup(""));
        machine.run(server.folder(), &backup).expect("a backup");
    }
    for file in &by_hand {
        assert!(fs::exists(file).expect("the folder is there"), "{file}");
    }
}
