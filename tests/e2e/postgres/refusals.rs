//! The database takes no writes for a while: creates are refused with 503 by their deadline, and
//! succeed again when the database takes writes.

use plant_store_tests::prelude::*;

use super::servers::{TERMINATE, cluster_with_database, start, wait_until_blocked_by};

/// The timeout of a create.
const TIMEOUT: Duration = Duration::from_secs(2);

/// The flag that sets it.
const FLAGS: [&str; 2] = ["--store-timeout", "2s"];

/// How late an answer may be, because the machine is busy with other work.
const SLACK: Duration = Duration::from_secs(2);

/// The create gets 503, and holds no lock afterwards: the service cancels its statement. Without a
/// cancel the statement would stay in the queue of the lock, and keep the locks that it has
/// already.
#[test]
fn create_that_waits_for_a_lock_is_cancelled_at_its_deadline() {
    let (cluster, server) = start(&FLAGS);
    for id in 1..=2 {
        server.create(&plant(id, "Ficus", None)).plant();
    }
    let held = "SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid)
        WHERE application_name = 'plant-store'
        AND locktype IN ('relation', 'tuple', 'transactionid') AND mode <> 'AccessShareLock'";
    let session = cluster.session("plants");
    for lock in ["SELECT 1 FROM plants WHERE id = 2 FOR UPDATE", "LOCK plants IN EXCLUSIVE MODE"] {
        session.execute(&format!("BEGIN; {lock}"));
        let sent = Instant::now();
        assert_eq!(server.create(&plant(2, "Ficus", None)).error(), 503);
        let time = sent.elapsed();
        assert!(time < TIMEOUT + SLACK, "{time:?}");
        let other = cluster.session("plants");
        server.wait_until("no lock", || other.value(held) == "0");
        session.execute("ROLLBACK");
        server.create(&plant(2, "Ficus", None)).plant();
    }
}

/// The database has a stricter isolation level, so a row that another session commits in the
/// meantime fails the transaction of a create or of a token command.
#[test]
fn serialization_failure_is_retried() {
    let (cluster, url) = cluster_with_database();
    let strict = "ALTER DATABASE plants SET default_transaction_isolation = 'serializable'";
    cluster.session("postgres").execute(strict);
    // A long timeout, which nothing here may come close to.
    let starting = Server::starting_in(Folder::over(&url)).with(&["--store-timeout", "50s"]);
    let server = starting.with_admin().start();
    server.run("token create ci").succeeded();

    let other = cluster.session("plants");
    other.execute("BEGIN; INSERT INTO plants (id, json) VALUES (1, '{\"name\":\"Ficus\"}')");
    let count = || server.metric("plant_store_database_retries_total");
    let retries = count();
    let mut create = server.connect();
    create.send(&server.post(&plant(1, "Ficus", None)));
    wait_until_blocked_by(&other, &cluster);
    other.execute("COMMIT");
    create.receive().plant();
    assert!(count() > retries, "the batch was retried");

    other.execute("BEGIN; UPDATE tokens SET created_at = 0 WHERE name = 'ci'");
    thread::scope(|scope| {
        let revoked = scope.spawn(|| server.run("token revoke ci").succeeded());
        wait_until_blocked_by(&other, &cluster);
        other.execute("COMMIT");
        revoked.join().expect("the command succeeds");
    });
}

/// An error of its own, the code of a full disk, and a warning. `/ready` asks for no credentials.
#[test]
fn error_of_the_database_is_answered_without_its_message() {
    let (cluster, server) = start(&FLAGS);
    let session = cluster.session("plants");
    let rows = [
        ("RAISE 'got %', NEW.json", "P0001", 500),
        ("RAISE 'got %', NEW.json USING ERRCODE = '53100'", "53100", 503),
        ("RAISE WARNING 'got %', NEW.json", "01000", 503),
    ];
    each_row(rows, |(raise, code, error)| {
        session.execute(&format!(
            "CREATE OR REPLACE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN {raise}; RETURN NEW; END $$;
            CREATE OR REPLACE TRIGGER tells BEFORE INSERT ON plants
                FOR EACH ROW EXECUTE FUNCTION tell()"
        ));
        let refusal = server.create(&plant(1, "secret", None));
        assert_eq!(refusal.error(), error);
        let (_, shown) = server.ready();
        for shown in [format!("{refusal:?}"), shown, server.log()] {
            assert!(!shown.contains("secret"), "{shown}");
        }
        server.wait_for_log(&format!("SQLSTATE {code}"));
    });
    session.execute("DROP TRIGGER tells ON plants");
    server.create(&plant(1, "secret", None)).plant();
}

/// While the database refuses every attempt, `/ready` and the log must name its message, not a
/// timeout.
#[test]
fn ready_and_log_name_the_cause_of_the_database() {
    let (cluster, server) = start(&FLAGS);
    let wait_until_ready = || server.wait_until("ready", || server.ready().0 == 200);
    // When the first create is refused at its deadline, there is hardly time left for the others.
    // By the last round, the lease of the tokens has expired, too, unless they can be read.
    let request = server.post(&plant(1, "Ficus", None));
    let are_refused = || {
        let connections = [(); 8].map(|()| {
            let mut connection = server.connect();
            connection.send(&request);
            connection
        });
        connections.map(|mut connection| connection.receive().status) == [400; 8]
    };
    let assert_cause = |cause: &str| {
        let mut rounds = 0;
        server.wait_until("three rounds of refused creates", || {
            let (status, shown) = server.ready();
            assert!(status == 200 || shown.contains(cause), "{shown}");
            rounds += usize::from(are_refused());
            rounds == 3
        });
        assert!(server.ready().1.contains(cause));
        server.wait_for_log(cause);
    };
    wait_until_ready();
    let session = cluster.session("postgres");
    session.execute("ALTER DATABASE plants SET default_transaction_read_only = on");
    session.execute(TERMINATE);
    assert_cause("does not allow writes");
    session.execute("ALTER DATABASE plants RESET ALL");
    wait_until_ready();
    cluster.stop("fast");
    assert_cause("Connection refused");
    let log = server.log();
    let timeouts = ["could not be read within", "not answer in time"];
    assert!(!timeouts.iter().any(|timeout| log.contains(timeout)), "{log}");
}

/// The lock is held until the end of the test, so no read of the tokens returns them.
#[test]
fn log_warns_while_the_tokens_cannot_be_read() {
    let (cluster, server) = start(&FLAGS);
    let session = cluster.session("plants");
    session.execute("BEGIN; LOCK tokens");
    let is_refused = || {
        let answer = server.create(&plant(1, "Ficus", None));
        answer.status == 400 && answer.refusal().1.contains("check tokens")
    };
    server.wait_until("503", is_refused);
    server.wait_for_log("the tokens cannot be read in time");
    assert!(is_refused(), "the read still hangs");
    session.execute("COMMIT");
}
