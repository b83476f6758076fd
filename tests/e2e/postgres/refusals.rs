//! The database takes no writes for a while: creates are refused with 503 by their deadline, and
//! succeed again when the database takes writes.

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
use crate::hard_to_kill::load::{Answer, CLIENTS, Progress, SLACK};

/// The timeout of a create in seconds.
const TIMEOUT: usize = 2;

/// The number of refused creates after which the fault ends. At least one of them was sent during
/// the fault, because each client waits for the answer to one create at a time.
const REFUSALS: usize = CLIENTS + 1;

/// Asserts that creates under load are refused from the beginning of a fault until its end.
pub fn assert_refused_during(what: &str, begin: impl Fn(&Scene), end: impl Fn(&Scene)) {
    assert_refused_in(&mut Scene::start(TIMEOUT), what, begin, end);
}

fn assert_refused_in(scene: &mut Scene, what: &str, begin: impl Fn(&Scene), end: impl Fn(&Scene)) {
    for _ in 0..rounds() {
        scene.round(what, |scene, progress: &Progress| {
            begin(scene);
            progress.wait_for(REFUSALS, Answer::Refused);
            end(scene);
        });
    }
}

#[test]
fn create_is_503_while_the_database_takes_no_writes() {
    let scene = &mut Scene::start(TIMEOUT);
    let stop = |scene: &Scene| scene.cluster.stop(Mode::Fast);
    assert_refused_in(scene, "down", stop, |scene| {
        scene.server.wait_for_log("the tokens cannot be read");
        scene.cluster.start_again();
    });
    assert_refused_in(
        scene,
        "RST",
        |scene| scene.link.cut(Cut::Reset),
        |scene| scene.link.resume(),
    );
    assert_refused_in(
        scene,
        "FIN",
        |scene| scene.link.cut(Cut::Close),
        |scene| scene.link.resume(),
    );
    assert_refused_in(scene, "stall", |scene| scene.link.stall(), |scene| scene.link.resume());
    let set = |scene: &Scene, value| scene.cluster.set("default_transaction_read_only", value);
    assert_refused_in(scene, "read-only", |scene| set(scene, "on"), |scene| set(scene, "off"));
    let limit = |scene: &Scene, connections| {
        let session = scene.cluster.session("postgres");
        session.execute(&format!("ALTER ROLE plants CONNECTION LIMIT {connections}"));
        session.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'plants'",
        );
    };
    assert_refused_in(scene, "connections", |scene| limit(scene, 0), |scene| limit(scene, -1));
    // An error without a code of its own, such as an error of an extension while the server stops.
    let execute = |scene: &Scene, statements| scene.cluster.session("plants").execute(statements);
    let fail = "CREATE FUNCTION fail() RETURNS boolean LANGUAGE plpgsql AS
            $$ BEGIN RAISE 'no code' USING ERRCODE = 'XX000'; END $$;
        ALTER TABLE plants ADD CONSTRAINT fails CHECK (fail()) NOT VALID";
    let repair = |scene: &Scene| execute(scene, "DROP FUNCTION fail CASCADE");
    assert_refused_in(scene, "XX000", |scene| execute(scene, fail), repair);
}

/// On Citus it is one of the workers that does not sync.
#[test]
pub fn create_is_503_while_the_database_does_not_sync() {
    let set = |scene: &Scene, value| {
        scene.cluster.nodes().last().expect("a node").set("fsync", value);
    };
    assert_refused_during("fsync", |scene| set(scene, "off"), |scene| set(scene, "on"));
}

/// Compiles `full_disk.c` to a library in a folder that PostgreSQL's user can read. Returns the
/// folder, and the path of the file that makes the disk full.
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
fn create_is_503_while_the_disk_of_the_database_is_full() {
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
    assert_refused_in(
        &mut scene,
        "full disk",
        |_| fs::write(&full, "").expect("a file"),
        |_| fs::remove_file(&full).expect("the file exists"),
    );
    assert!(scene.cluster.log().contains("No space left on device"));
}

/// The create gets 503, and holds no lock afterwards: the service cancels its statement. Without a
/// cancel the statement would stay in the queue of the lock, and keep the locks that it has
/// already.
#[test]
fn create_that_waits_for_a_lock_is_cancelled_at_its_deadline() {
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

/// The database has a stricter isolation level, so a row that another session commits in the
/// meantime fails the transaction of a create or of a token command.
#[test]
fn serialization_failure_is_retried() {
    let cluster = Cluster::start();
    create_database(&cluster);
    let strict = "ALTER DATABASE plants SET default_transaction_isolation = 'serializable'";
    cluster.session("postgres").execute(strict);
    // A long timeout, which nothing here may come close to.
    let scene = Scene::over(cluster, 50);
    scene.server.command(&["token", "create", "ci"]);

    let other = scene.cluster.session("plants");
    other.execute("BEGIN; INSERT INTO plants (id, json) VALUES (1, '{\"name\":\"Ficus\"}')");
    let mut create = scene.server.connect();
    create.send(&scene.server.post(&plant(1, "Ficus", None)));
    wait_until_blocked_by(&other, &scene.cluster);
    other.execute("COMMIT");
    create.receive().plant();
    assert!(scene.retries("serialization") > 0, "the batch was retried");

    other.execute("BEGIN; UPDATE tokens SET created_at = 0 WHERE name = 'ci'");
    thread::scope(|scope| {
        let revoked = scope.spawn(|| scene.server.command(&["token", "revoke", "ci"]));
        wait_until_blocked_by(&other, &scene.cluster);
        other.execute("COMMIT");
        revoked.join().expect("the command succeeds");
    });
}
