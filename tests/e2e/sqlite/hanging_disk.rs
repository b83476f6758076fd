//! A disk that does not answer. A commit that does not end is reported, and new creates are refused
//! instead of waiting. Whatever waits for the disk can be stopped.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;

use nix::sys::signal::Signal;
use plant_store_tests::{Folder, Server, binary_in, plant, run, signalled};

use crate::database::{STORE, WAL};
use crate::hard_to_kill::disk;
use crate::metrics::{metrics_address, scrape, series};
use crate::operators::files;

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
    disk::hang(server.folder(), "sync", WAL);
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

    disk::stop_hanging(server.folder(), "sync", WAL);
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
    disk::hang(server.folder(), "sync", WAL);
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
    disk::hang(server.folder(), "sync", STORE);
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
    disk::hang(server.folder(), "sync", STORE);
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait().code(), Some(0));
    let (_, stopped) = server.ended();
    disk::stop_hanging(stopped.folder(), "sync", STORE);
    assert!(disk::start_again(stopped).export().contains_key(&1));
}

/// Runs a command until that call on that file hangs, and then sends it a signal. Returns what it
/// says, and how it ended.
fn signalled_while(
    (call, file): (&str, &str),
    folder: &Path,
    words: &[&str],
    signal: Signal,
) -> (String, ExitStatus) {
    disk::put_on_disk(folder);
    disk::hang(folder, call, file);
    let mut command = binary_in(folder);
    disk::preload(&mut command);
    signalled(command.args(words), || disk::wait_until_it_hangs(folder, file), signal)
}

#[test]
fn server_that_starts_on_a_hanging_disk_ends_at_the_first_signal() {
    for (hanging, signal) in [(("read", STORE), Signal::SIGTERM), (("sync", WAL), Signal::SIGINT)] {
        let server = Server::start().stopped_by(Signal::SIGTERM);
        let serve = ["serve", "--listen", "127.0.0.1:0"];
        let (log, status) = signalled_while(hanging, server.folder(), &serve, signal);
        assert_eq!(status.code(), Some(0), "{log}");
        let last = log.lines().last().expect("a last line");
        assert!(last.contains("stopped before the service had started"), "{log}");
    }
}

#[test]
fn start_that_is_stopped_before_it_prints_the_first_token_says_how_to_replace_it() {
    let folder = Folder::new();
    let serve = ["serve", "--listen", "127.0.0.1:0"];
    let (log, status) = signalled_while(("sync", WAL), folder.path(), &serve, Signal::SIGTERM);
    assert_eq!(status.code(), Some(0), "{log}");
    let last = log.lines().last().expect("a last line");
    assert!(last.contains("stopped before the first token was shown: "), "{log}");
    assert!(last.contains("`plant-store token create NAME` makes another"), "{log}");
    assert!(run(folder.path(), &["token", "create", "ci"]).status.success());
}

#[test]
fn copy_on_a_hanging_disk_ends_at_the_first_signal_and_leaves_no_file() {
    for (hanging, signal) in
        [(("read", STORE), Signal::SIGTERM), (("sync", disk::NEW), Signal::SIGINT)]
    {
        let server = Server::start().stopped_by(Signal::SIGTERM);
        let copy = ["copy", "--from", "sqlite:plant-store.db", "--to", "sqlite:copy.db"];
        let (said, status) = signalled_while(hanging, server.folder(), &copy, signal);
        assert_eq!(status.code(), Some(1));
        assert_eq!(said, "plant-store: interrupted while a store did not answer\n");
        let left: Vec<_> = files(server.folder()).into_keys().collect();
        // As after SIGKILL, the source may have an empty WAL.
        assert!(left.iter().all(|file| file == "log" || file.starts_with(STORE)), "{left:?}");
    }
}

/// They have nothing to put in order, so the signal ends the process by itself.
#[test]
fn export_and_check_on_a_hanging_disk_end_at_the_first_signal() {
    for command in ["export", "check"] {
        let server = Server::start().stopped_by(Signal::SIGTERM);
        let (hanging, words) = (("read", STORE), [command]);
        let (_, status) = signalled_while(hanging, server.folder(), &words, Signal::SIGTERM);
        assert_eq!(status.signal(), Some(Signal::SIGTERM as i32), "{command}");
    }
}
