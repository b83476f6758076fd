//! `plant-store copy --damaged`, and a restore that keeps what can be read: pages of the store are
//! zeroes, as a disk leaves a page that it has lost, or the file is cut.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Output;

use nix::sys::signal::Signal;
use plant_store_tests::{Server, Starting, plant, run};
use rusqlite::Connection;

use crate::database::STORE;
use crate::operators::copies::kill_and_copy;

const PLANTS: i64 = 2000;

/// A store that was stopped, with plants of even ids.
fn stopped() -> Starting {
    let server = Server::start();
    for id in (0..PLANTS).step_by(2) {
        server.create(&plant(id, "Ficus benjamina", None)).plant();
    }
    server.stopped_by(Signal::SIGTERM)
}

/// The pages of that kind, in their order.
fn pages(folder: &Path, condition: &str) -> Vec<u32> {
    let store = Connection::open(folder.join(STORE)).expect("the store opens");
    let query = format!("SELECT pageno FROM dbstat WHERE {condition} ORDER BY path");
    let mut statement = store.prepare(&query).expect("a query");
    let pages = statement.query_map([], |row| row.get(0)).expect("pages");
    pages.collect::<Result<_, _>>().expect("pages")
}

fn overwrite(folder: &Path, page: u32) {
    let store = File::options().write(true).open(folder.join(STORE)).expect("the store");
    store.write_all_at(&[0; 4096], u64::from(page - 1) * 4096).expect("a page");
}

/// Takes so many bytes from the end of the store.
fn cut(folder: &Path, bytes: u64) {
    let store = File::options().write(true).open(folder.join(STORE)).expect("the store");
    let length = store.metadata().expect("a length").len();
    store.set_len(length - bytes).expect("it is cut");
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn copy(folder: &Path, flags: &[&str]) -> Output {
    let words = ["copy", "--from", "sqlite:plant-store.db", "--to", "sqlite:copy.db"];
    run(folder, &[&words, flags].concat())
}

fn ids(folder: &Path, store: &str) -> Vec<i64> {
    let exported = run(folder, &["export", "--store", store]);
    assert!(exported.status.success(), "{}", text(&exported.stderr));
    let id = |line| serde_json::from_str::<serde_json::Value>(line).expect("JSON")["id"].as_i64();
    text(&exported.stdout).lines().map(|line| id(line).expect("an id")).collect()
}

/// Copies what can be read, and returns what it says: something is missing.
fn readable(folder: &Path) -> String {
    let copied = copy(folder, &["--damaged"]);
    assert_eq!(copied.status.code(), Some(1), "{}", text(&copied.stdout));
    text(&copied.stderr)
}

/// The ranges of ids that a command names as missing.
fn missing(said: &str) -> Vec<(i64, i64)> {
    let (_, ids) = said.trim_end().split_once(": the plants with the ids ").expect(said);
    let ids = ids.split(';').next().expect("ids");
    let range = |range: &str| {
        let up_to_the_last = range.strip_prefix("from ").and_then(|ids| ids.strip_suffix(" on"));
        let last = i64::MAX.to_string();
        let ends = up_to_the_last.map(|first| (first, &*last)).or(range.split_once(" to "));
        let (first, last) = ends.unwrap_or((range, range));
        (first.parse().expect("an id"), last.parse().expect("an id"))
    };
    ids.split(", ").map(range).collect()
}

/// Whether the id is in one of the ranges.
fn is_in(ranges: &[(i64, i64)], id: i64) -> bool {
    ranges.iter().any(|(first, last)| (*first..=*last).contains(&id))
}

#[test]
fn plants_on_lost_pages_are_named_and_all_others_are_copied() {
    let stopped = stopped();
    let folder = stopped.folder();
    let leaves = pages(folder, "name = 'plants' AND pagetype = 'leaf'");
    assert!(leaves.len() > 8, "{leaves:?}");
    let lost = [leaves[2], leaves[6]];
    for page in lost {
        overwrite(folder, page);
    }

    let refused = copy(folder, &[]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("copy --damaged"), "{}", text(&refused.stderr));
    let said = readable(folder);
    let ranges = missing(&said);
    assert_eq!(ranges.len(), lost.len(), "{said}");
    let expected: Vec<_> = (0..PLANTS).step_by(2).filter(|id| !is_in(&ranges, *id)).collect();
    assert_eq!(ids(folder, "sqlite:copy.db"), expected);
    assert!(expected.len() > 700, "{said}");
    assert!(said.contains(&format!("plants: {}, tokens added: 1", expected.len())), "{said}");
    let check = run(folder, &["check", "--store", "sqlite:copy.db"]);
    assert_eq!(check.status.code(), Some(0));
}

#[test]
fn copy_of_a_damaged_store_that_is_killed_at_any_call_is_whole_or_not_there() {
    let stopped = stopped();
    let folder = stopped.folder();
    overwrite(folder, pages(folder, "name = 'plants' AND pagetype = 'leaf'")[2]);
    assert_eq!(copy(folder, &["--damaged"]).status.code(), Some(1));
    let exported = text(&run(folder, &["export", "--store", "sqlite:copy.db"]).stdout);
    assert!(exported.lines().count() > 700);
    fs::remove_file(folder.join("copy.db")).expect("the copy");
    kill_and_copy(folder, &["--from", "sqlite:plant-store.db", "--damaged"], &exported);
}

#[test]
fn one_large_plant_whose_page_is_lost_is_the_only_one_that_is_missing() {
    let server = Server::start();
    for id in 0..9 {
        server.create(&plant(id, &"Ficus ".repeat(2000), None)).plant();
    }
    let stopped = server.stopped_by(Signal::SIGTERM);
    let folder = stopped.folder();
    let overflow = pages(folder, "name = 'plants' AND pagetype = 'overflow'");
    overwrite(folder, overflow[overflow.len() / 2]);
    let said = readable(folder);
    let lost = missing(&said);
    assert!(lost.len() == 1 && lost[0].0 == lost[0].1, "{said}");
    assert_eq!(ids(folder, "sqlite:copy.db").len(), 8);
}

#[test]
fn store_whose_root_of_plants_is_lost_gives_its_tokens() {
    let stopped = stopped();
    let folder = stopped.folder();
    overwrite(folder, pages(folder, "name = 'plants' AND path = '/'")[0]);
    let said = readable(folder);
    assert!(said.contains("plants: 0, tokens added: 1"), "{said}");
    assert!(said.contains("missing: all plants"), "{said}");
}

/// One page, a part of a page, and a third of the file. A restore takes the same plants.
#[test]
fn file_that_is_cut_gives_the_plants_before_the_cut() {
    for bytes in [4096, 1000, 20_000] {
        let stopped = stopped();
        let folder = stopped.folder();
        let to = ["copy", "--from", "sqlite:plant-store.db", "--to", "sqlite:backup.db"];
        assert!(run(folder, &to).status.success());
        cut(folder, bytes);
        let said = readable(folder);
        let ranges = missing(&said);
        let expected: Vec<_> = (0..PLANTS).step_by(2).filter(|id| !is_in(&ranges, *id)).collect();
        assert_eq!(ids(folder, "sqlite:copy.db"), expected, "{bytes}: {said}");
        assert!(expected.len() > 100 && expected.len() < 1000, "{bytes}: {said}");

        run(folder, &["restore", "backup.db", "--store", "sqlite:empty.db", "--tokens", "backup"]);
        let emptied = Connection::open(folder.join("empty.db")).expect("a store");
        emptied.execute_batch("DELETE FROM plants").expect("no plants");
        drop(emptied);
        let words = ["restore", "empty.db", "--store", "sqlite:plant-store.db", "--keep-newer"];
        let restored = run(folder, &[&words[..], &["--tokens", "backup"]].concat());
        assert!(restored.status.success(), "{bytes}: {}", text(&restored.stderr));
        assert_eq!(missing(&text(&restored.stdout)), ranges, "{bytes}");
        assert_eq!(ids(folder, "sqlite:plant-store.db"), expected, "{bytes}");
    }
}

#[test]
fn lost_index_makes_a_store_unsound_and_takes_nothing_from_a_copy() {
    let stopped = stopped();
    let folder = stopped.folder();
    overwrite(folder, pages(folder, "name LIKE 'sqlite_autoindex_tokens%'")[0]);
    assert_eq!(run(folder, &["check"]).status.code(), Some(1));
    let copied = copy(folder, &["--damaged"]);
    let said = text(&copied.stdout);
    assert!(said.contains("plants: 1000, tokens added: 1"), "{said}");
    assert!(copied.status.success() && said.contains("missing: no plant"), "{said}");
}

#[test]
fn lost_first_page_leaves_nothing_to_read_and_the_message_says_what_to_do() {
    let stopped = stopped();
    let folder = stopped.folder();
    let store = File::options().write(true).open(folder.join(STORE)).expect("the store");
    // The header is whole, and what is behind it is not.
    store.write_all_at(&[0xff; 3996], 100).expect("a page");
    for _ in 0..2 {
        let said = readable(folder);
        assert!(said.contains("nothing of sqlite:plant-store.db can be read"), "{said}");
        assert!(said.contains("`plant-store restore BACKUP --store"), "{said}");
        assert!(said.contains("--tokens backup") && !said.contains("copy --damaged"), "{said}");
        assert!(!folder.join("copy.db").exists());
        overwrite(folder, 1);
    }
}

#[test]
fn restore_that_keeps_newer_plants_takes_those_that_a_damaged_store_still_gives() {
    let server = Server::start();
    for id in 0..500 {
        server.create(&plant(id, "Ficus benjamina", None)).plant();
    }
    server.command(&["copy", "--from", server.store(), "--to", "sqlite:backup.db"]);
    for id in 500..1500 {
        server.create(&plant(id, "Ficus benjamina", None)).plant();
    }
    let stopped = server.stopped_by(Signal::SIGTERM);
    let folder = stopped.folder();
    let leaves = pages(folder, "name = 'plants' AND pagetype = 'leaf'");
    // One is in the backup too, one is not.
    overwrite(folder, leaves[1]);
    overwrite(folder, leaves[leaves.len() - 2]);
    let words = ["restore", "backup.db", "--store", "sqlite:plant-store.db", "--keep-newer"];
    let output = run(folder, &words);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    let lost = missing(&said);
    assert_eq!(lost.len(), 2, "{said}");
    let expected: Vec<_> = (0..1500).filter(|id| *id < 500 || !is_in(&lost, *id)).collect();
    assert_eq!(ids(folder, "sqlite:plant-store.db"), expected);
    assert_eq!(run(folder, &["check"]).status.code(), Some(0));
    drop(stopped.start());
}

/// A page of the tokens' table, or of its index: SQLite's own check cannot read the file.
#[test]
fn backup_with_its_tokens_is_restored_over_a_store_whose_tokens_are_lost() {
    let stopped = stopped();
    let folder = stopped.folder();
    let to = ["copy", "--from", "sqlite:plant-store.db", "--to", "sqlite:backup.db"];
    assert!(run(folder, &to).status.success());
    for table in ["tokens", "sqlite_autoindex_tokens_2"] {
        overwrite(folder, pages(folder, &format!("name = '{table}'"))[0]);
        let words = ["restore", "backup.db", "--store", "sqlite:plant-store.db"];
        let restored = run(folder, &[&words[..], &["--tokens", "backup"]].concat());
        assert!(restored.status.success(), "{table}: {}", text(&restored.stderr));
        assert_eq!(run(folder, &["check"]).status.code(), Some(0));
    }
    drop(stopped.start());
}
