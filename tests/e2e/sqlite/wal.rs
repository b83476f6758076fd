//! The WAL: other programs use it through SQLite, as they may with an ordinary database. It grows
//! while another process reads the store, and shrinks afterwards.

use plant_store_tests::prelude::*;
use rusqlite::Connection;
use rusqlite::backup::Progress;
use rusqlite::config::DbConfig;

use crate::database::{self, STORE, WAL, create};
use crate::reads::start_export;

/// Copies a store as `.backup` of `sqlite3` does.
fn back_up(from: &Connection, to: &Path) {
    from.backup("main", to, None::<fn(Progress)>).expect("a copy");
}

fn vacuum(from: &Connection, to: &Path) {
    from.execute("VACUUM INTO ?1", [to.to_str()]).expect("a copy");
}

/// The store is copied while it is served, and then the copy is served.
#[test]
fn copy_by_sqlite_tools_is_a_sound_store() {
    for copy in [back_up, vacuum] {
        let server = Server::start();
        create(&server, 0..3);
        let folder = TempDir::new().expect("a temporary folder");
        copy(&database::open(&server), &folder.path().join(STORE));
        create(&server, 3..4);
        let stdout = run(&mut binary_in(folder.path(), "check")).succeeded();
        assert!(stdout.contains("is sound; plants: 3, tokens: 1"), "{stdout}");
        let copied = Starting::on(folder, &server.token).start();
        copied.create(&plant(7, "Fern", None)).plant();
        let copied = copied.stopped_by(Signal::SIGKILL).start();
        assert!(copied.export().into_keys().eq([0, 1, 2, 7]));
    }
}

/// The stop cannot checkpoint the WAL. Either the other program does that, or the next start.
#[test]
fn stop_beside_another_program_exits_0_and_loses_nothing() {
    for transaction in ["BEGIN; SELECT count(*) FROM plants", "BEGIN IMMEDIATE"] {
        for is_left in [true, false] {
            let server = Server::start();
            server.create(&plant(1, "Ficus", None)).plant();
            let other = database::open(&server);
            other.execute_batch(transaction).expect("nothing blocks it");
            server.signal(Signal::SIGTERM);
            let (status, stopped) = server.ended();
            assert_eq!(status.code(), Some(0), "{transaction}");
            let wal = stopped.folder().join(WAL);
            assert!(wal.metadata().expect("the WAL stays").len() > 0, "{transaction}");
            other.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, is_left).expect("set");
            drop(other);
            assert_eq!(wal.exists(), is_left);
            assert!(stopped.start().export().into_keys().eq([1]));
        }
    }
}

/// The WAL of a crash may not be on the disk, and a power cut would lose a revocation behind it.
/// A running server has synced what was there at its start.
#[test]
fn reader_blocks_a_revocation_only_after_a_crash() {
    let server = Server::start();
    server.run("token create a").succeeded();
    server.run("token create b").succeeded();
    let reader = database::open(&server);
    reader.execute_batch("BEGIN; SELECT count(*) FROM plants").expect("a transaction");
    server.run("token revoke a").succeeded();
    let stopped = server.stopped_by(Signal::SIGKILL);
    let revoked = run(&mut binary_in(stopped.folder(), "token revoke b"));
    revoked.failed(1, "cannot revoke the token: another program is reading the store");
    drop(reader);
    run(&mut binary_in(stopped.folder(), "token revoke b")).succeeded();
}

const MIB: u64 = 1024 * 1024;

fn wal_bytes(server: &Server) -> u64 {
    server.folder().join(WAL).metadata().expect("the WAL exists").len()
}

/// A transaction of another program makes the WAL grow. Nothing is created in the meantime.
#[test]
fn long_wal_is_measured_and_truncated_when_its_reader_ends() {
    let server = Server::starting().with_admin().start();
    let reader = database::open(&server);
    reader.execute_batch("BEGIN; SELECT count(*) FROM plants").expect("a transaction");
    let store = database::open(&server);
    store.pragma_update(None, "wal_autocheckpoint", 0).expect("a pragma");
    let plant = "INSERT INTO plants (id, json)
        VALUES (?1, json_object('name', printf('%.*c', 1000000, 'x')))";
    let mut plants = 0;
    while wal_bytes(&server) < 256 * MIB {
        store.execute(plant, [plants]).expect("a plant");
        plants += 1;
    }
    let wal = || server.metric("plant_store_wal_bytes");
    server.wait_until("a long WAL in the metrics", || wal() > 256_000_000);
    assert!(server.metric("plant_store_store_bytes") > 10_000);
    assert!(server.metric("plant_store_disk_free_bytes") > 1_000_000);
    reader.execute_batch("COMMIT").expect("the transaction ends");
    server.wait_until("a short WAL", || wal_bytes(&server) <= 32 * MIB && wal() < 1_000_000);
    assert!(server.export().into_keys().eq(0..plants));
}

/// The export has written its first lines, and waits until somebody reads its output.
#[test]
fn blocked_export_does_not_hold_the_wal() {
    let server = Server::start();
    create(&server, 0..1000);
    let export = start_export(&server);
    assert!(export.first_line.starts_with(r#"{"id":0,"#), "{}", export.first_line);
    // 12 MiB of plants. If the export held the WAL, the WAL would contain all of them.
    create(&server, 1000..4000);
    assert!(wal_bytes(&server) < 8 * MIB, "{}", wal_bytes(&server));
}
