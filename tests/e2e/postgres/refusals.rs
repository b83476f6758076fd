//! The database takes no writes for a while: creates are refused with 503 by their deadline, and
//! succeed again when the database takes writes.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use plant_store_tests::library;
use plant_store_tests::postgres::Cluster;
use plant_store_tests::prelude::*;

use super::{Scene, TERMINATE, cluster_with_database, create_database, wait_until_blocked_by};
use crate::metrics::{get, metrics_address};

/// The timeout of a create in seconds.
const TIMEOUT: u64 = 2;

/// How late an answer may be, because the machine is busy with other work.
const SLACK: Duration = Duration::from_secs(2);

#[test]
fn create_is_503_while_the_disk_of_the_database_is_full() {
    let folder = TempDir::new().expect("a temporary folder");
    // PostgreSQL's user loads the library.
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).expect("it is ours");
    let library = library("postgres/full_disk", folder.path());
    let full = folder.path().join("full");
    let cluster = Cluster::start();
    create_database(&cluster);
    cluster.stop("fast");
    cluster.start_with(&format!("LD_PRELOAD={} FULL_DISK={}", library.display(), full.display()));
    let scene = Scene::over(cluster, TIMEOUT);
    let create = |id| scene.server.create(&plant(id, &"Ficus ".repeat(5000), None));
    create(1).plant();
    fs::write(&full, "").expect("a file");
    // The first creates may still find room in the pages that the files have.
    let refused =
        (2..999).map(create).find(|answer| answer.status != 200).expect("the pages are full");
    assert_eq!(refused.error(), 503);
    fs::remove_file(&full).expect("the file exists");
    create(1000).plant();
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
        assert!(time < Duration::from_secs(TIMEOUT) + SLACK, "{time:?}");
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
    let retries = scene.retries();
    let mut create = scene.server.connect();
    create.send(&scene.server.post(&plant(1, "Ficus", None)));
    wait_until_blocked_by(&other, &scene.cluster);
    other.execute("COMMIT");
    create.receive().plant();
    assert!(scene.retries() > retries, "the batch was retried");

    other.execute("BEGIN; UPDATE tokens SET created_at = 0 WHERE name = 'ci'");
    thread::scope(|scope| {
        let revoked = scope.spawn(|| scene.server.command(&["token", "revoke", "ci"]));
        wait_until_blocked_by(&other, &scene.cluster);
        other.execute("COMMIT");
        revoked.join().expect("the command succeeds");
    });
}

/// `/ready` asks for no credentials.
#[test]
fn message_of_a_trigger_with_a_value_is_never_shown() {
    let (cluster, url) = cluster_with_database();
    let flags = ["--metrics", "127.0.0.1:0"];
    let server = Server::starting_in(Folder::over(&url)).with(&flags).start();
    let session = cluster.session("plants");
    for (statement, code) in [("RAISE", "P0001"), ("RAISE WARNING", "01000")] {
        session.execute(&format!(
            "CREATE OR REPLACE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN {statement} 'got %', NEW.json; RETURN NEW; END $$;
            CREATE OR REPLACE TRIGGER tells BEFORE INSERT ON plants
                FOR EACH ROW EXECUTE FUNCTION tell()"
        ));
        let refusal = server.create(&plant(1, "secret", None));
        assert!(refusal.status != 200);
        assert!(!String::from_utf8_lossy(&refusal.body).contains("secret"));
        let ready = get(metrics_address(&server), "/ready");
        assert!(!String::from_utf8_lossy(&ready.body).contains("secret"));
        server.wait_for_log(&format!("SQLSTATE {code}"));
    }
    assert!(!server.log().contains("secret"), "{}", server.log());
}

/// While the database refuses every attempt, `/ready` and the log must name its message, not a
/// timeout.
#[test]
fn ready_and_log_name_the_cause_of_the_database() {
    let (cluster, url) = cluster_with_database();
    let flags = ["--metrics", "127.0.0.1:0", "--store-timeout", "2s"];
    let server = Server::starting_in(Folder::over(&url)).with(&flags).start();
    let address = metrics_address(&server);
    let ready = || String::from_utf8_lossy(&get(address, "/ready").body).into_owned();
    for cause in ["does not allow writes", "Connection refused"] {
        server.wait_until("ready", || ready() == "ready\n");
        if cause == "Connection refused" {
            cluster.stop("fast");
        } else {
            let session = cluster.session("postgres");
            session.execute("ALTER DATABASE plants SET default_transaction_read_only = on");
            session.execute(TERMINATE);
        }
        let began = Instant::now();
        thread::scope(|scope| {
            scope.spawn(|| {
                while began.elapsed() < Duration::from_secs(6) {
                    server.create(&plant(1, "Ficus", None));
                }
            });
            let mut answers = Vec::new();
            while began.elapsed() < Duration::from_secs(6) {
                answers.push(ready());
                thread::sleep(Duration::from_millis(20));
            }
            let is_cause = |answer: &String| answer.contains(cause);
            assert!(answers.iter().any(is_cause), "{answers:?}");
            assert!(answers.iter().all(|answer| answer == "ready\n" || is_cause(answer)));
        });
        server.wait_for_log(cause);
        if cause != "Connection refused" {
            cluster.session("postgres").execute("ALTER DATABASE plants RESET ALL");
        }
    }
    let log = server.log();
    assert!(
        !log.contains("could not be read within") && !log.contains("not answer in time"),
        "{log}"
    );
}

/// The lock is held until the end of the test, so no read of the tokens returns them.
#[test]
fn log_warns_while_the_tokens_cannot_be_read() {
    let scene = Scene::start(TIMEOUT);
    let session = scene.cluster.session("plants");
    session.execute("BEGIN; LOCK tokens");
    let is_refused = || {
        let answer = scene.server.create(&plant(1, "Ficus", None));
        answer.status == 400 && String::from_utf8_lossy(&answer.body).contains("check tokens")
    };
    scene.server.wait_until("503", is_refused);
    scene.server.wait_for_log("the tokens cannot be read in time");
    assert!(is_refused(), "the read still hangs");
    session.execute("COMMIT");
}
