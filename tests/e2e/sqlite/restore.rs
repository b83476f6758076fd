//! A restore as OPERATING.md describes it: the old files are moved away, and a copy of the backup
//! takes their place.

use plant_store_tests::prelude::*;

use crate::database::{STORE, WAL};
use crate::operators::files;
use crate::sqlite::damage::large_store;

/// A server is killed, so that its last changes are in the WAL. The backup from before these
/// changes contains plant 1 and accepts the first token, which was revoked since.
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
    let stdout = run(binary_in(stopped.folder()).args(copy.split(' '))).succeeded();
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
