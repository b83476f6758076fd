//! A WAL that cannot be reset because another process reads the store: it grows, it is reported,
//! and it shrinks afterwards.

use nix::sys::signal::Signal;
use plant_store_tests::{Server, plant};
use rusqlite::Connection;
use serde_json::Value;

use crate::database::{self, WAL};
use crate::export::start_export;
use crate::metrics::{metrics_address, scrape, series};
use crate::operators::create;

const MIB: u64 = 1024 * 1024;

/// The size above which the WAL's file is truncated.
const BOUND: u64 = 32 * MIB;

fn wal_bytes(server: &Server) -> u64 {
    let wal = server.folder().join(WAL);
    wal.metadata().expect("the WAL exists").len()
}

/// Starts a read transaction of another program.
fn reader(server: &Server) -> Connection {
    let reader = database::open(server);
    reader.execute_batch("BEGIN; SELECT count(*) FROM plants").expect("a transaction");
    reader
}

/// Writes plants of 1 MB to the WAL, bypassing the server, until the WAL has that many bytes.
/// Returns the number of plants.
fn fill_wal(server: &Server, bytes: u64) -> i64 {
    let store = database::open(server);
    store.pragma_update(None, "wal_autocheckpoint", 0).expect("a pragma");
    let plant = "INSERT INTO plants (id, json)
        VALUES (?1, json_object('name', printf('%.*c', 1000000, 'x')))";
    let mut plants = 0;
    while wal_bytes(server) < bytes {
        store.execute(plant, [plants]).expect("a plant");
        plants += 1;
    }
    plants
}

/// Nothing is created in the meantime.
#[test]
fn long_wal_is_truncated_when_its_reader_ends() {
    let server = Server::starting().with(&["--metrics", "127.0.0.1:0"]).start();
    let metrics = metrics_address(&server);
    let reader = reader(&server);
    let plants = fill_wal(&server, BOUND + 8 * MIB);
    let reported = |name| -> f64 {
        let scrape = scrape(metrics);
        let bytes = series(&scrape).get(name).copied();
        bytes.map_or(0.0, |bytes| bytes.parse().expect("a number"))
    };
    let wal = || reported("plant_store_wal_bytes");
    server.wait_until("a long WAL in the metrics", || wal() > 32.0 * 1024.0 * 1024.0);
    assert!(reported("plant_store_store_bytes") > 1e4);
    assert!(reported("plant_store_disk_free_bytes") > 1e6);
    reader.execute_batch("COMMIT").expect("the transaction ends");
    server.wait_until("a short WAL", || wal_bytes(&server) <= BOUND && wal() < 1e6);
    assert_eq!(server.export().len(), usize::try_from(plants).expect("a number of plants"));
}

/// The warning says how to find the reader.
#[test]
fn wal_of_256_mib_is_logged_as_a_warning() {
    let server = Server::start();
    let _reader = reader(&server);
    fill_wal(&server, 256 * MIB);
    server.wait_for_log("`fuser -v`");
}

#[test]
fn stop_beside_a_reader_exits_0_and_logs_that_the_wal_stays() {
    let mut server = Server::start();
    let reader = reader(&server);
    server.create(&plant(1, "Ficus", None)).plant();
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait().code(), Some(0));
    let log = server.log();
    let last: Value = serde_json::from_str(log.lines().last().expect("a line")).expect("a record");
    let message = last["msg"].as_str().expect("text");
    assert!(message.starts_with("stopped; the WAL stays, because another program"), "{log}");
    assert_eq!(last["wal_bytes"], wal_bytes(&server));
    assert!(wal_bytes(&server) > 0);
    drop(reader);
    server.ended().1.start().create(&plant(1, "Ficus", None)).plant();
}

/// The export has written its first lines, and waits until somebody reads its output.
#[test]
fn blocked_export_does_not_hold_the_wal() {
    let server = Server::start();
    create(&server, 0..1000);
    let mut export = start_export(&server);
    assert!(export.first_line.starts_with(r#"{"id":0,"#), "{}", export.first_line);
    // 12 MiB of plants. If the export held the WAL, the WAL would contain all of them.
    create(&server, 1000..4000);
    assert!(wal_bytes(&server) < 8 * MIB, "{}", wal_bytes(&server));
    export.process.kill().expect("the process is ours");
    export.process.wait().expect("the process can be waited for");
}
