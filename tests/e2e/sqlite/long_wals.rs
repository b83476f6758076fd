//! A WAL that cannot start over because another process reads the store: it grows, it is reported,
//! and it shrinks afterwards.

use nix::sys::signal::Signal;
use plant_store_tests::{Server, plant};
use rusqlite::Connection;
use serde_json::Value;

use crate::database::{self, WAL};
use crate::export::started;
use crate::metrics::{metrics_address, scrape, series};
use crate::operators::create;

const MIB: u64 = 1024 * 1024;

/// The size above which the WAL's file is cut.
const BOUND: u64 = 32 * MIB;

fn wal_bytes(server: &Server) -> u64 {
    let wal = server.folder().join(WAL);
    wal.metadata().expect("the WAL is there").len()
}

/// A read transaction of another program.
fn reader(server: &Server) -> Connection {
    let reader = database::open(server);
    reader.execute_batch("BEGIN; SELECT count(*) FROM plants").expect("a transaction");
    reader
}

/// Writes plants of 1 MB into the WAL, past the server, until it has that many bytes. Returns how
/// many plants.
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

#[test]
fn wal_that_a_reader_held_shrinks_while_nothing_is_created() {
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

#[test]
fn wal_of_256_mib_is_a_warning_that_says_how_to_find_the_reader() {
    let server = Server::start();
    let _reader = reader(&server);
    fill_wal(&server, 256 * MIB);
    server.wait_for_log("`fuser -v`");
}

#[test]
fn stop_beside_another_reader_is_status_0_and_its_last_line_says_that_the_wal_stays() {
    let mut server = Server::start();
    let reader = reader(&server);
    server.create(&plant(1, "Ficus", None)).plant();
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait().code(), Some(0));
    let log = server.log();
    let last: Value = serde_json::from_str(log.lines().last().expect("a line")).expect("a record");
    let said = last["msg"].as_str().expect("text");
    assert!(said.starts_with("stopped; the WAL stays, because another program"), "{log}");
    assert_eq!(last["wal_bytes"], wal_bytes(&server));
    assert!(wal_bytes(&server) > 0);
    drop(reader);
    server.ended().1.start().create(&plant(1, "Ficus", None)).plant();
}

/// It has written its first lines, and waits for a reader of the others.
#[test]
fn export_that_nobody_reads_does_not_hold_the_wal() {
    let server = Server::start();
    create(&server, 0..1000);
    let mut export = started(&server);
    assert!(export.first_line.starts_with(r#"{"id":0,"#), "{}", export.first_line);
    // 12 MiB of plants: if the export held the WAL, they would all be in it.
    create(&server, 1000..4000);
    assert!(wal_bytes(&server) < 8 * MIB, "{}", wal_bytes(&server));
    export.process.kill().expect("the process is ours");
    export.process.wait().expect("the process can be waited for");
}
