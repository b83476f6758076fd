//! `server/RESTORE.md` on a database.

use plant_store_tests::{Folder, Server, plant};

use super::scene::with_plants;
use crate::operators::machine::{Machine, block};

#[test]
fn restore_brings_back_the_backup_and_keeps_the_database_that_was_there() {
    let (cluster, url) = with_plants();
    let machine =
        Machine::with(vec![("PGPORT", cluster.port().to_string()), ("PGUSER", "postgres".into())]);
    let server = Server::starting_in(Folder::over(&url)).start();
    server.create(&plant(1, "Ficus", None)).plant();
    let backup = format!("sqlite:{}", machine.backup("plant-store-2026-11-20T030000Z.db"));
    server.command(&["copy", "--from", &url, "--to", &backup]);
    server.create(&plant(2, "Fern", None)).plant();
    let restore = block("Restore in PostgreSQL").replace("PGHOST=db.example", "PGHOST=127.0.0.1");
    let databases = || cluster.session("postgres").value("SELECT count(*) FROM pg_database");
    let count = databases();
    let of_no_backup = restore.replace("T030000Z.db", "T040000Z.db");
    machine.run(server.folder(), &of_no_backup).expect_err("there is no backup");
    assert_eq!(databases(), count, "no database was made");
    let server = machine.follow(&restore, server);
    assert!(server.export().into_keys().eq([1]));
    let names = "SELECT min(datname) FROM pg_database WHERE datname LIKE 'plants_before_%'";
    let name = cluster.session("postgres").value(names);
    let before = cluster.session(&name);
    assert_eq!(before.value("SELECT count(*) FROM plants"), "2");
}
