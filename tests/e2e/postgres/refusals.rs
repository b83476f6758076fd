//! The database runs, but takes no writes for a while: creates are refused with 503 by the
//! deadline, and succeed again by themselves.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use plant_store_tests::plant;
use plant_store_tests::postgres::{Cluster, Cut, Mode};
use tempfile::TempDir;

use super::scene::{Scene, create_database, rounds, wait_until_blocked_by};
use crate::hard_to_kill::load::{Answer, Progress, SLACK};

/// How long a create may take, in seconds.
const TIMEOUT: usize = 2;

/// How many creates are refused until the fault ends.
const REFUSALS: usize = 30;

/// Under load, creates are refused from the fault on until it ends.
pub fn refuse(what: &str, begin: impl Fn(&Scene), end: impl Fn(&Scene)) {
    refuse_on(&mut Scene::start(TIMEOUT), what, begin, end);
}

fn refuse_on(scene: &mut Scene, what: &str, begin: impl Fn(&Scene), end: impl Fn(&Scene)) {
    for _ in 0..rounds() {
        scene.round(what, |scene, progress: &Progress| {
            begin(scene);
            progress.wait_for(REFUSALS, Answer::Refused);
            end(scene);
        });
    }
}

#[test]
fn database_that_is_away_or_takes_no_writes_is_503_by_the_deadline_until_it_does() {
    let scene = &mut Scene::start(TIMEOUT);
    let stop = |scene: &Scene| scene.cluster.stop(Mode::Fast);
    refuse_on(scene, "down", stop, |scene| {
        scene.server.wait_for_log("the tokens cannot be read");
        scene.cluster.start_again();
    });
    refuse_on(scene, "RST", |scene| scene.link.cut(Cut::Reset), |scene| scene.link.go_on());
    refuse_on(scene, "FIN", |scene| scene.link.cut(Cut::Close), |scene| scene.link.go_on());
    refuse_on(scene, "stall", |scene| scene.link.stall(), |scene| scene.link.go_on());
    let set = |scene: &Scene, value| scene.cluster.set("default_transaction_read_only", value);
    refuse_on(scene, "read-only", |scene| set(scene, "on"), |scene| set(scene, "off"));
    let limit = |scene: &Scene, connections| {
        let session = scene.cluster.session("postgres");
        session.execute(&format!("ALTER ROLE plants CONNECTION LIMIT {connections}"));
        session.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'plants'",
        );
    };
    refuse_on(scene, "connections", |scene| limit(scene, 0), |scene| limit(scene, -1));
    // An error without a code, such as one of an extension while the server stops.
    let execute = |scene: &Scene, statements| scene.cluster.session("plants").execute(statements);
    let fail = "CREATE FUNCTION fail() RETURNS boolean LANGUAGE plpgsql AS
            $$ BEGIN RAISE 'no code' USING ERRCODE = 'XX000'; END $$;
        ALTER TABLE plants ADD CONSTRAINT fails CHECK (fail()) NOT VALID";
    let repair = |scene: &Scene| execute(scene, "DROP FUNCTION fail CASCADE");
    refuse_on(scene, "XX000", |scene| execute(scene, fail), repair);
}

/// On Citus, one of its workers.
#[test]
pub fn database_that_does_not_sync_is_503_until_it_does() {
    let set = |scene: &Scene, value| {
        scene.cluster.nodes().last().expect("itself").set("fsync", value);
    };
    refuse("fsync", |scene| set(scene, "off"), |scene| set(scene, "on"));
}

/// A folder with `full_disk.c` as a library, which the user of PostgreSQL may use.
fn full_disk() -> (TempDir, PathBuf) {
    let folder = TempDir::new().expect("a temporary folder");
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).expect("it is ours");
    let library = folder.path().join("full_disk.so");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o"]);
    compiler.arg(&library);
    compiler.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("e2e/postgres/full_disk.c"));
    let status = compiler.status().expect("there is a C compiler, as the build needs one");
    assert!(status.success(), "the library compiles");
    let full = folder.path().join("full");
    (folder, full)
}

#[test]
fn full_disk_is_503_until_there_is_space() {
    let (folder, full) = full_disk();
    let cluster = Cluster::start();
    create_database(&cluster);
    cluster.stop(Mode::Fast);
    cluster.start_with(&format!(
        "LD_PRELOAD={} FULL_DISK={}",
        folder.path().join("full_disk.so").display(),
        full.display()
    ));
    let mut scene = Scene::over(cluster, TIMEOUT);
    refuse_on(
        &mut scene,
        "full disk",
        |_| fs::write(&full, "").expect("a file"),
        |_| fs::remove_file(&full).expect("the file is there"),
    );
    assert!(scene.cluster.log().contains("No space left on device"));
}

/// The service cancels the statement, and does not only give it up. Otherwise the statement would
/// stay in the queue of the lock, and the locks that it has already.
#[test]
fn create_that_waits_for_a_lock_is_503_by_the_deadline_and_holds_no_lock_after_it() {
    let scene = Scene::start(TIMEOUT);
    for id in 1..=2 {
        scene.server.create(&plant(id, "Ficus", None)).plant();
    }
    let held = "SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid)
        WHERE application_name = 'plant-store'
        AND locktype IN ('relation', 'tuple', 'transactionid') AND mode <> 'AccessShareLock'";
    let session = scene.cluster.session("plants");
    for lock in ["SELECT 1 FROM plants WHERE id = 2 FOR UPDATE", "LOCK plants IN EXCLUSIVE MODE"] {
        session.execute(&format!("BEGIN; {lock}"));
        let sent = Instant::now();
        assert_eq!(scene.server.create(&plant(2, "Ficus", None)).error(), 503);
        let time = sent.elapsed();
        assert!(time < Duration::from_secs(TIMEOUT as u64) + SLACK, "{time:?}");
        let other = scene.cluster.session("plants");
        scene.server.wait_until("no lock", || other.value(held) == "0");
        session.execute("ROLLBACK");
        scene.server.create(&plant(2, "Ficus", None)).plant();
    }
}

/// A database that is set to a stricter isolation: a row that another session commits meanwhile
/// fails a transaction.
#[test]
fn serialization_failure_of_a_create_or_a_token_command_is_repeated() {
    let cluster = Cluster::start();
    create_database(&cluster);
    let strict = "ALTER DATABASE plants SET default_transaction_isolation = 'serializable'";
    cluster.session("postgres").execute(strict);
    // Nothing here may come near this time.
    let scene = Scene::over(cluster, 50);
    scene.server.command(&["token", "create", "ci"]);

    let other = scene.cluster.session("plants");
    other.execute("BEGIN; INSERT INTO plants (id, json) VALUES (1, '{\"name\":\"Ficus\"}')");
    let mut create = scene.server.connect();
    create.send(&scene.server.post(&plant(1, "Ficus", None)));
    wait_until_blocked_by(&other, &scene.cluster);
    other.execute("COMMIT");
    create.receive().plant();
    assert!(scene.retries("serialization") > 0, "the batch failed");

    other.execute("BEGIN; UPDATE tokens SET created_at = 0 WHERE name = 'ci'");
    thread::scope(|scope| {
        let revoked = scope.spawn(|| scene.server.command(&["token", "revoke", "ci"]));
        wait_until_blocked_by(&other, &scene.cluster);
        other.execute("COMMIT");
        revoked.join().expect("the command succeeds");
    });
}
