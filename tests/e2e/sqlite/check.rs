//! `plant-store check`, and what commands and servers do with a damaged store: no command reports
//! success for a part of it.

use std::os::unix::fs::FileExt;

use plant_store_tests::prelude::*;
use rusqlite::Connection;

use crate::database::{self, STORE};
use crate::operators::{Prepare, create, files};

/// Runs `check --json`, and returns its exit code and its report.
fn check_json(folder: &Path) -> (Option<i32>, Value) {
    let checked = run(binary_in(folder).args(["check", "--json"]));
    (checked.code, serde_json::from_str(&checked.stdout).expect("JSON"))
}

/// The store is checked while a server runs on it, and after the server has stopped.
#[test]
fn check_of_a_sound_store_exits_0() {
    let server = Server::start();
    create(&server, 0..2000);
    let stdout = server.command(&["check"]);
    assert!(stdout.starts_with("sqlite:plant-store.db is sound; plants: 2000, tokens: 1, size: "));
    assert_eq!(stdout.lines().count(), 1, "{stdout}");
    server.create(&plant(2000, "Fern", None)).plant();

    let stopped = server.stopped_by(Signal::SIGTERM);
    let before = files(stopped.folder());
    let (status, report) = check_json(stopped.folder());
    assert_eq!(status, Some(0));
    assert_eq!((&report["sound"], &report["faults"]), (&true.into(), &json!([])));
    assert_eq!((&report["plants"], &report["tokens"]), (&2001.into(), &1.into()));
    assert_eq!(report["store_bytes"], before[STORE].len());
    assert!(report["wal_bytes"].is_u64());
    assert!(files(stopped.folder()) == before, "check changes nothing");
}

fn cut(file: &File) {
    let length = file.metadata().expect("a size").len();
    file.set_len(length / 2).expect("the file can be truncated");
}

fn overwrite(file: &File) {
    let middle = file.metadata().expect("a size").len() / 2;
    file.write_all_at(&vec![0xff; 1 << 17], middle).expect("the file can be written");
}

fn damage(folder: &Path, damage: fn(&File)) {
    let file = File::options().write(true).open(folder.join(STORE)).expect("the store is a file");
    damage(&file);
}

fn alter(folder: &Path, statements: &str) {
    let store = Connection::open(folder.join(STORE)).expect("the store opens");
    store.execute_batch(statements).expect("the statements succeed");
}

/// STORES.md tells operators that they may add an index, and litestream adds its own tables.
const OTHERS: &str = "CREATE INDEX plants_by_name ON plants (json ->> '$.name');
    CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER);
    CREATE TABLE _litestream_lock (id INTEGER)";

/// Another program has written these rows: the service writes nothing like them.
const NOT_PLANTS: &str = r#"INSERT INTO plants (id, json)
    VALUES (5, '["Fern", "Ficus"]'), (6, '{"tag":"Ficus"}'), (7, 'Ficus')"#;

#[test]
fn check_of_a_changed_store_exits_1_unless_it_is_sound() {
    let server = Server::start();
    create(&server, 1000..1500);
    let stopped = server.stopped_by(Signal::SIGTERM);
    let rows: [(&str, Prepare, &str); 5] = [
        ("overwritten", |folder| damage(folder, overwrite), "malformed"),
        ("cut", |folder| damage(folder, cut), "malformed"),
        (
            "rows",
            |folder| alter(folder, NOT_PLANTS),
            "rows that are not a plant: 3, for example the ids [5, 6, 7]",
        ),
        (
            "table",
            |folder| alter(folder, "CREATE TABLE zones (id INTEGER)"),
            "these tables do not match layout version 1: zones",
        ),
        ("index and litestream", |folder| alter(folder, OTHERS), "sound"),
    ];
    each_row(rows, |(_, change, expected)| {
        let folder = TempDir::new().expect("a temporary folder");
        fs::copy(stopped.folder().join(STORE), folder.path().join(STORE)).expect("a copy");
        change(folder.path());
        let (status, report) = check_json(folder.path());
        let is_sound = expected == "sound";
        assert_eq!(report["sound"], is_sound);
        if is_sound {
            assert_eq!(status, Some(0), "{report}");
            return;
        }
        assert_eq!(status, Some(1), "{report}");
        assert!(!report["faults"].as_array().expect("an array").is_empty(), "{report}");
        let checked = run(binary_in(folder.path()).arg("check"));
        checked.failed(1, "sqlite:plant-store.db is not sound: ");
        checked.failed(1, expected);
    });
}

/// A create with the id of a row that is not a plant is a conflict.
#[test]
fn server_creates_beside_rows_and_an_index_of_others() {
    let server = Server::start();
    alter(server.folder(), NOT_PLANTS);
    assert_eq!(server.create(&plant(7, "Ficus", None)).error(), 409);
    alter(server.folder(), &format!("DELETE FROM plants; {OTHERS}"));
    server.create(&plant(8, "Ficus", None)).plant();
    let query = "SELECT id FROM plants WHERE json ->> '$.name' = 'Ficus'";
    assert_eq!(database::number(&server, query), 8);
}

#[test]
fn truncated_store_is_refused_and_left_unchanged() {
    let server = Server::start();
    create(&server, 0..500);
    let stopped = server.stopped_by(Signal::SIGTERM);
    damage(stopped.folder(), cut);
    let before = files(stopped.folder());
    for words in ["serve", "export"] {
        run(binary_in(stopped.folder()).arg(words)).failed(1, "malformed");
        assert!(files(stopped.folder()) == before, "{words} changes the files");
    }
}

/// The file is truncated while the server has it open.
#[test]
fn create_that_needs_a_damaged_page_is_500() {
    let server = Server::start();
    create(&server, 0..500);
    let server = server.stopped_by(Signal::SIGTERM).start();
    damage(server.folder(), cut);
    let mut refusals = (0..500).map(|id| server.create(&plant(id, "Ficus", None)).refusal());
    let refusal = refusals.find(|(error, _)| *error != 409).expect("a page is missing");
    assert!(refusal.0 == 500 && !refusal.1.contains("malformed"), "{refusal:?}");
    server.wait_for_log("check it: run `plant-store check`");
}

/// The number of plants in [`large_store`]: they need more than one interior page of SQLite's tree.
const MANY: i64 = 20_001;

/// A folder with the file of a closed store that has [`MANY`] plants and one token.
pub fn large_store() -> TempDir {
    let server = Server::start();
    database::execute(
        &server,
        &format!(
            "WITH RECURSIVE ids (id) AS (SELECT 0 UNION ALL SELECT id + 1 FROM ids LIMIT {MANY})
            INSERT INTO plants (id, json) SELECT id, json_object('name', 'Ficus ' || id) FROM ids"
        ),
    );
    let stopped = server.stopped_by(Signal::SIGTERM);
    let folder = TempDir::new().expect("a temporary folder");
    fs::copy(stopped.folder().join(STORE), folder.path().join(STORE)).expect("a copy");
    folder
}

/// Tries every command that processes all plants of the store in that folder. Each must end soon,
/// and fail unless it has processed every plant. Returns the stderr of each command that failed.
fn try_every_command(folder: &Path) -> Vec<String> {
    let try_to = |words: &str| {
        let mut command = binary_in(folder);
        command.args(words.split(' '));
        let ended = run(&mut behind(&["timeout", "30"], &command));
        assert!(matches!(ended.code, Some(0..=2)), "{words}: {:?} {}", ended.code, ended.stderr);
        if words.starts_with("export") && ended.code == Some(0) {
            // Damage within a text may go unnoticed.
            let id =
                |line: &str| line.strip_prefix("{\"id\":")?.split([',', '}']).next()?.parse().ok();
            let ids: Vec<i64> = ended.stdout.lines().filter_map(id).collect();
            assert!(ids.iter().copied().eq(0..MANY), "{words}: {} plants", ids.len());
        }
        (ended.code != Some(0)).then_some(ended.stderr)
    };
    let copied = try_to(&format!("copy --from sqlite:{STORE} --to sqlite:copy.db --tokens from"));
    if copied.is_none() {
        try_to("export --store sqlite:copy.db");
    }
    [try_to("check"), try_to("export"), copied].into_iter().flatten().collect()
}

/// The damaged row has a higher id, so reading on after that id skips the plants in between.
#[test]
fn flipped_bit_in_a_row_id_is_detected_by_every_command() {
    let folder = large_store();
    let file = folder.path().join(STORE);
    let mut bytes = fs::read(&file).expect("the store");
    // The id 10,000 as SQLite writes it, and the header of the row: its length, and a null for the
    // id.
    let row = [0xce, 0x10, 0x03, 0x00];
    let at = bytes.windows(4).position(|window| window == row).expect("the row");
    bytes[at] |= 0x20;
    fs::write(&file, bytes).expect("the store");
    let failed = try_every_command(folder.path());
    assert_eq!(failed.len(), 3, "{failed:?}");
    assert!(failed.iter().all(|stderr| stderr.contains("out of order")), "{failed:?}");
}

#[test]
fn no_command_reports_success_for_part_of_a_damaged_store() {
    let sound = large_store();
    let bytes = fs::read(sound.path().join(STORE)).expect("the store");
    let damaged = (0..amount(8, 100)).filter(|_| {
        let folder = TempDir::new().expect("a temporary folder");
        let mut bytes = bytes.clone();
        let length = rand::random_range(16..=1000);
        let at = rand::random_range(0..bytes.len() - length);
        println!("{length} bytes at {at}");
        bytes[at..at + length].iter_mut().for_each(|byte| *byte = rand::random());
        fs::write(folder.path().join(STORE), bytes).expect("the store");
        !try_every_command(folder.path()).is_empty()
    });
    assert!(damaged.count() > 0, "no command refused a damaged file");
}
