//! The WAL: other programs use it through SQLite, as they may with an ordinary database. It grows
//! while another process reads the store, is reported, and shrinks afterwards. No command reads
//! past it.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use plant_store_tests::prelude::*;
use rusqlite::Connection;
use rusqlite::backup::Progress;
use rusqlite::config::DbConfig;

use crate::database::{self, STORE, WAL, create, files};
use crate::export::start_export;
use crate::metrics::{metrics_address, value};
use crate::without_store::starts::unprivileged;

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
            let bytes = wal.metadata().expect("the WAL stays").len();
            assert!(bytes > 0, "{transaction}");
            if transaction.contains("SELECT") {
                let log = fs::read_to_string(stopped.log_file()).expect("a log");
                let last = log.lines().last().expect("a line");
                assert!(last.contains("stopped; the WAL stays, because another program"), "{log}");
                assert!(last.contains(&format!("\"wal_bytes\":{bytes}")), "{log}");
            }
            other.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, is_left).expect("set");
            drop(other);
            assert_eq!(wal.exists(), is_left);
            assert!(stopped.start().export().into_keys().eq([1]));
        }
    }
}

const MIB: u64 = 1024 * 1024;

fn wal_bytes(server: &Server) -> u64 {
    server.folder().join(WAL).metadata().expect("the WAL exists").len()
}

/// A transaction of another program makes the WAL grow. The warning says how to find it. Nothing is
/// created in the meantime.
#[test]
fn long_wal_is_reported_and_truncated_when_its_reader_ends() {
    let server = Server::starting().with(&["--metrics", "127.0.0.1:0"]).start();
    let metrics = metrics_address(&server);
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
    let wal = || value(metrics, "plant_store_wal_bytes");
    server.wait_until("a long WAL in the metrics", || wal() > 256e6);
    assert!(value(metrics, "plant_store_store_bytes") > 1e4);
    assert!(value(metrics, "plant_store_disk_free_bytes") > 1e6);
    server.wait_for_log("`fuser -v`");
    reader.execute_batch("COMMIT").expect("the transaction ends");
    server.wait_until("a short WAL", || wal_bytes(&server) <= 32 * MIB && wal() < 1e6);
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

/// Sets the modes of a folder and of its files.
fn set_modes(folder: &Path, of_folder: u32, of_files: u32) {
    let set = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode));
    set(folder, 0o700).expect("the test owns the folder");
    for name in files(folder).into_keys() {
        set(&folder.join(name), of_files).expect("the test owns the file");
    }
    set(folder, of_folder).expect("the test owns the folder");
}

/// The commands that read run as a user who may not write. The WAL of a crash contains a plant that
/// the file lacks, and SQLite needs the index to read it. A server keeps both.
#[test]
fn store_is_read_without_write_access_but_never_past_its_wal() {
    let served = Server::start();
    served.create(&plant(1, "Ficus", None)).plant();
    let stopped = Server::start().stopped_by(Signal::SIGTERM);
    let copy_of = |from: &Path, names: &[&str]| {
        let to = TempDir::new().expect("a temporary folder");
        for name in names {
            fs::copy(from.join(name), to.path().join(name)).expect("a copy");
        }
        to
    };
    let file = copy_of(stopped.folder(), &[STORE]);
    let crashed = copy_of(served.folder(), &[STORE, WAL]);
    let rows = [
        ("file", file.path(), None),
        ("file and WAL", crashed.path(), Some("WAL")),
        ("served store", served.folder(), None),
    ];
    each_row(rows, |(_, folder, refused)| {
        let elsewhere = TempDir::new().expect("a temporary folder");
        let store = format!("sqlite:{}", folder.join(STORE).display());
        let before = files(folder);
        set_modes(folder, 0o500, 0o400);
        let ended = [
            format!("check --store {store}"),
            format!("export --store {store}"),
            format!("token list --store {store}"),
            format!("copy --from {store} --to sqlite:copy.db --tokens from"),
        ]
        .map(|words| run(&mut unprivileged(elsewhere.path(), &words)));
        set_modes(folder, 0o700, 0o600);
        for ended in ended {
            assert_eq!(ended.code == Some(0), refused.is_none(), "{ended:?}");
            assert!(ended.stderr.contains(refused.unwrap_or_default()), "{ended:?}");
        }
        assert!(folder == served.folder() || files(folder) == before, "the files are unchanged");
    });
}
