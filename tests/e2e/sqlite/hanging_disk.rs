//! A commit that does not end: it is reported, and new creates are refused instead of waiting.

use nix::sys::signal::Signal;
use plant_store_tests::{Server, plant};

use crate::database::{STORE, WAL};
use crate::hard_to_kill::disk;
use crate::metrics::{metrics_address, scrape, series};

fn seconds(server: &Server) -> f64 {
    let scrape = scrape(metrics_address(server));
    series(&scrape)["plant_store_commit_running_seconds"].parse().expect("a number")
}

#[test]
fn hanging_commit_is_reported_and_refuses_new_creates_until_the_disk_answers() {
    let flags = ["--commit-timeout", "1s", "--metrics", "127.0.0.1:0"];
    let server = disk::start_with(&flags);
    server.create(&plant(1, "Ficus", None)).plant();
    assert!(seconds(&server) < 0.1);
    disk::hang(&server, WAL);
    let mut waiting = server.connect();
    waiting.send(&server.post(&plant(2, "Fern", None)));
    server.wait_until("a hanging commit in the metrics", || seconds(&server) >= 1.0);
    // Those sent before the limit wait, the others are refused.
    let mut late = Vec::new();
    server.wait_until("a refusal", || {
        let mut connection = server.connect();
        connection.send(&server.post(&plant(3, "Fern", None)));
        late.push(connection);
        late.last_mut().is_some_and(|last| {
            last.try_receive_now().is_some_and(|answer| {
                assert_eq!(answer.refusal().0, 503);
                assert_eq!(answer.header("retry-after"), Some("1"));
                true
            })
        })
    });
    late.pop();
    server.wait_for_log("a commit hangs: the store does not answer");

    disk::stop_hanging(server.folder(), WAL);
    waiting.receive().plant();
    for mut connection in late {
        connection.receive().plant();
    }
    server.create(&plant(4, "Fern", None)).plant();
    server.wait_for_log("the store answers again");
    server.wait_until("no hanging commit in the metrics", || seconds(&server) < 0.1);
}

#[test]
fn stop_does_not_wait_for_a_hanging_commit() {
    let mut server = disk::start_with(&["--shutdown-timeout", "500ms"]);
    server.create(&plant(1, "Ficus", None)).plant();
    disk::hang(&server, WAL);
    let mut waiting = server.connect();
    waiting.send(&server.post(&plant(2, "Fern", None)));
    // Answered behind it, so it was read before the signal.
    assert_eq!(server.create_with("", "{}").refusal().0, 401);
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait().code(), Some(0));
    assert!(server.log().contains("stopped with requests unfinished"), "{}", server.log());
}

/// A checkpoint writes as much as all the commits before it, and commits wait for it.
#[test]
fn hanging_checkpoint_refuses_new_creates_and_does_not_hold_the_stop() {
    let flags = ["--commit-timeout", "1s", "--shutdown-timeout", "500ms"];
    let mut server = disk::start_with(&flags);
    disk::hang(&server, STORE);
    let long = "f".repeat(100_000);
    let (mut ids, mut waiting) = (0.., Vec::new());
    // Some plants fill the WAL; the next ones wait for its checkpoint, and then they are refused.
    server.wait_until("a refusal", || {
        let mut connection = server.connect();
        let id = ids.next().expect("there are many ids");
        connection.send(&server.post(&plant(id, &long, None)));
        let answer = connection.try_receive_now();
        waiting.push(connection);
        answer.is_some_and(|answer| answer.status == 400 && answer.refusal().0 == 503)
    });
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait().code(), Some(0));
}

/// The last connection copies the WAL into the file when it closes.
#[test]
fn stop_does_not_wait_for_a_disk_that_does_not_take_the_wal() {
    let mut server = disk::start_with(&["--shutdown-timeout", "500ms"]);
    server.create(&plant(1, "Ficus", None)).plant();
    disk::hang(&server, STORE);
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait().code(), Some(0));
    let (_, stopped) = server.ended();
    disk::stop_hanging(stopped.folder(), STORE);
    assert!(disk::start_again(stopped).export().contains_key(&1));
}
