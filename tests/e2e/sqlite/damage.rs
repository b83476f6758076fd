//! What commands and servers do with a damaged store, and with a store that other programs use, and
//! a restore as OPERATING.md describes it. No command reports success for a part of a store.

use plant_store_tests::prelude::*;
use plant_store_tests::seeds;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::database::{self, STORE, WAL, create, files};

/// Truncates the file of a store to half of its length.
fn cut(folder: &Path) {
    let file = File::options().write(true).open(folder.join(STORE)).expect("the store is a file");
    let length = file.metadata().expect("a size").len();
    file.set_len(length / 2).expect("the file can be truncated");
}

#[test]
fn truncated_store_is_refused_and_left_unchanged() {
    let server = Server::start();
    create(&server, 0..500);
    let stopped = server.stopped_by(Signal::SIGTERM);
    cut(stopped.folder());
    let before = files(stopped.folder());
    for words in ["serve", "export", "check"] {
        stopped.run(words).failed(1, "malformed");
        assert!(files(stopped.folder()) == before, "{words} changes the files");
    }
}

/// STORES.md tells operators that they may add an index, and litestream adds its own tables.
#[test]
fn store_with_an_index_and_litestreams_tables_is_sound() {
    let server = Server::start();
    let others = "CREATE INDEX plants_by_name ON plants (json ->> '$.name');
        CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER);
        CREATE TABLE _litestream_lock (id INTEGER)";
    database::execute(&server, others);
    server.run("check").succeeded();
    let server = server.stopped_by(Signal::SIGTERM).start();
    server.create(&plant(8, "Ficus", None)).plant();
    let query = "SELECT id FROM plants WHERE json ->> '$.name' = 'Ficus'";
    assert_eq!(database::number(&server, query), 8);
}

/// The number of plants in [`large_store`]: they need more than one interior page of SQLite's tree.
const MANY: i64 = 20_001;

/// A stopped server on a store that has [`MANY`] plants and one token.
fn large_store() -> Starting {
    let server = Server::start();
    database::insert(&server, 0..MANY);
    server.stopped_by(Signal::SIGTERM)
}

/// Tries every command that processes all plants of the store in that folder. Each must end soon,
/// and fail unless it has processed every plant. Returns the stderr of each command that failed.
fn try_every_command(folder: &Path) -> Vec<String> {
    let try_to = |words: &str| {
        let ended = run(&mut behind(&["timeout", "30"], &binary_in(folder, words)));
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

#[test]
fn no_command_reports_success_for_part_of_a_damaged_store() {
    let sound = large_store();
    let bytes = fs::read(sound.folder().join(STORE)).expect("the store");
    let damaged = seeds(8, 100).into_iter().filter(|seed| {
        let mut random = StdRng::seed_from_u64(*seed);
        let folder = TempDir::new().expect("a temporary folder");
        let mut bytes = bytes.clone();
        let length = random.random_range(16..=1000);
        let at = random.random_range(0..bytes.len() - length);
        println!("PLANT_STORE_TESTS_SEED={seed}: {length} bytes at {at}");
        random.fill(&mut bytes[at..at + length]);
        fs::write(folder.path().join(STORE), bytes).expect("the store");
        !try_every_command(folder.path()).is_empty()
    });
    assert!(damaged.count() > 0, "no command refused a damaged file");
}

/// The old files are moved away, and a copy of the backup takes their place. The server was killed,
/// so its last changes are in the WAL. The backup from before these changes contains plant 1 and
/// accepts the first token, which was revoked since.
#[test]
fn restored_store_has_the_backups_plants_and_the_old_tokens() {
    let server = Server::start();
    server.create(&plant(1, "Ficus", None)).plant();
    server.run("copy --from sqlite:plant-store.db --to sqlite:backup.db --tokens from").succeeded();
    server.create(&plant(2, "Fern", None)).plant();
    let new = server.run("token create new").succeeded();
    server.run("token revoke first").succeeded();
    let revoked = server.token.clone();
    let stopped = server.stopped_by(Signal::SIGKILL);

    let before = files(stopped.folder());
    assert!(!before[WAL].is_empty(), "the last changes are in the WAL");
    let old = stopped.folder().join("old");
    fs::create_dir(&old).expect("a folder");
    for name in before.keys().filter(|name| name.starts_with(STORE)) {
        fs::rename(stopped.folder().join(name), old.join(name)).expect("the file moves");
    }
    let copy = "copy --from sqlite:backup.db --to sqlite:plant-store.db --tokens \
                sqlite:old/plant-store.db";
    let stdout = stopped.run(copy).succeeded();
    assert!(stdout.contains("accepts the token new\n") && !stdout.contains("first"), "{stdout}");
    let after = files(&old);
    for name in [STORE, WAL] {
        assert!(after[name] == before[name], "{name} is unchanged, so the restore can be undone");
    }
    let server = stopped.start();
    assert!(server.export().into_keys().eq([1]));
    let refused = server.create_with(&bearer(&revoked), &plant(3, "Ivy", None));
    assert_eq!(refused.error(), 401, "a revoked token stays revoked");
    server.create_with(&bearer(new.trim_end()), &plant(3, "Ivy", None)).plant();
}

/// Only the table of the tokens is read, and the pages of the plants are destroyed.
#[test]
fn damaged_store_can_still_provide_its_tokens() {
    let server = Server::start();
    server.create(&plant(1, "Ficus", None)).plant();
    let damaged = large_store();
    let file = damaged.folder().join(STORE);
    let mut bytes = fs::read(&file).expect("the store");
    let middle = bytes.len() / 2;
    bytes[middle..middle + 8192].fill(0);
    fs::write(&file, bytes).expect("the store");
    let before = files(damaged.folder());
    let tokens = format!("--tokens sqlite:{}", file.display());
    let copy = format!("copy --from sqlite:{STORE} --to sqlite:new.db {tokens}");
    let stdout = server.run(&copy).succeeded();
    assert!(stdout.contains("plants: 1, tokens: 1"), "{stdout}");
    assert!(files(damaged.folder()) == before, "nothing changed");
}
