//! The script that makes a backup each night, with the environment that cron has.

use std::fs;

use plant_store_tests::{Server, plant};

use super::restore::Place;
use crate::without_store::readmes::text;

#[test]
fn backup_script_keeps_the_last_ones_and_fails_if_there_are_fewer_plants() {
    let place = Place::with(Vec::new());
    place.program("backup", &text("server/deploy/plant-store-backup.sh"));
    let folder = place.backup("");
    let script = format!("env -i PATH=/usr/local/bin:/bin KEEP=2 METRICS={folder}");
    let backup = |server: &Server| {
        place.run(
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
    let metrics = fs::read_to_string(place.backup("plant-store-backup.prom")).expect("a file");
    assert!(metrics.contains("\nplant_store_backup_timestamp_seconds 1"), "{metrics}");
    let other = Server::start();
    place.program("date", "echo 2026-11-20T030000Z");
    fs::write(place.backup("plant-store-2026-11-20T030000Z.db"), "another's").expect("a file");
    for expected in ["is there already, perhaps of another store", "there is something at"] {
        let said = backup(&other).expect_err("the name is taken");
        assert!(said.contains(expected), "{said}");
    }
    place.program("date", "echo 2026-11-20T030001Z");
    let said = backup(&other).expect_err("there are fewer plants");
    assert!(said.contains("has 0 plants and had 3") && said.contains("remove "), "{said}");
    let elsewhere = format!("backup '{}' '{folder}unmounted'", other.store());
    let said = place.run(other.folder(), &elsewhere).expect_err("there is no such folder");
    assert!(said.contains("is it mounted?"), "{said}");
    assert!(kept.iter().all(|name| backups().contains(name)), "none is removed");
}
