//! `server/RESTORE.md` on a database.

use plant_store_tests::{Folder, Server, plant};

use super::scene::with_plants;
use crate::operators::restore::{Place, block};

#[test]
fn restore_brings_back_the_backup_and_keeps_the_database_that_was_there() {
    let (cluster, url) = with_plants();
    let place = Place::with(vec![
        ("PGHOST", "127.0.0.1".into()),
        ("PGPORT", cluster.port().to_string()),
        ("PGUSER", "postgres".into()),
    ]);
    let server = Server::starting_in(Folder::over(&url)).start();
    server.create(&plant(1, "Ficus", None)).plant();
    let backup = format!("sqlite:{}", place.backup("plant-store-2026-11-20T030000Z.db"));
    server.command(&["copy", "--from", &url, "--to", &backup]);
    server.create(&plant(2, "Fern", None)).plant();
    let server = place.follow(&block("Restore in PostgreSQL"), server);
    assert!(server.export().into_keys().eq([1]));
    let names = "SELECT min(datname) FROM pg_database WHERE datname LIKE 'plants_before_%'";
    let before = cluster.session("postgres").value(names);
    let before = cluster.session(&before);
    assert_eq!(before.value("SELECT count(*) FROM plants"), "2");
}
