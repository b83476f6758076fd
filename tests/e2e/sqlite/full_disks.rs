//! Full disks: creates are refused, and succeed again once there is space.

use nix::sys::signal::Signal;
use plant_store_tests::plant;

use crate::database::WAL;
use crate::hard_to_kill::disk;
use crate::metrics::{get, metrics_address};

#[test]
fn create_on_a_full_disk_is_503_until_there_is_space() {
    let server = disk::start();
    server.create(&plant(1, "Ficus", None)).plant();
    disk::fail(&server, "write", WAL);
    for _ in 0..2 {
        let answer = server.create(&plant(2, "Fern", None));
        assert_eq!(answer.error(), 503);
        assert_eq!(answer.header("retry-after"), Some("1"));
    }
    server.wait_for_log("the store does not take writes: database or disk is full");
    disk::stop_failing(server.folder(), "write", WAL);
    server.create(&plant(2, "Fern", None)).plant();
    server.wait_for_log("the store takes writes again");
    let warnings = server.log().matches(r#""msg":"the store does not take writes""#).count();
    assert_eq!(warnings, 1, "a lasting failure is logged once, not for each create");
    let server = disk::start_again(server.stopped_by(Signal::SIGKILL));
    assert_eq!(server.export().into_keys().collect::<Vec<_>>(), [1, 2]);
}

/// The service finds out by itself with test writes. Each writes one page, less than the last
/// create.
#[test]
fn ready_is_503_while_the_disk_is_full() {
    let server = disk::start_with(&["--metrics", "127.0.0.1:0"]);
    let metrics = metrics_address(&server);
    let ready = || get(metrics, "/ready").status;
    disk::fail(&server, "write", WAL);
    assert_eq!(server.create(&plant(1, "Ficus", None)).error(), 503);
    let wal = server.folder().join(WAL);
    let written = || wal.metadata().and_then(|wal| wal.modified()).expect("the WAL exists");
    for _ in 0..2 {
        let before = written();
        server.wait_until("a test write", || {
            assert_eq!(ready(), 503);
            written() != before
        });
    }
    disk::stop_failing(server.folder(), "write", WAL);
    server.wait_until("ready again", || ready() == 200);
}
