//! The database rolls a batch back because of another session: it is repeated, and no create is
//! refused.

use std::thread;

use plant_store_tests::postgres::{Cluster, Session};
use plant_store_tests::{Connection, plant};

use super::scene::{Scene, create_database, wait_until_blocked_by};

/// How long a create may take, in seconds. Nothing here may come near it.
const TIMEOUT: usize = 50;

/// Sends a create of the plant, and does not wait for the answer.
fn begin(scene: &Scene, id: i64) -> Connection {
    let mut connection = scene.server.connect();
    connection.send(&scene.server.post(&plant(id, "Ficus", None)));
    connection
}

fn lock(session: &Session, id: i64) {
    session.execute(&format!("SELECT 1 FROM plants WHERE id = {id} FOR UPDATE"));
}

/// Another session locks the rows of a batch in the other order, and the batch is the victim.
#[test]
fn deadlock_is_repeated_and_refuses_no_create() {
    let scene = Scene::start(TIMEOUT);
    for id in 1..=3 {
        scene.server.create(&plant(id, "Ficus", None)).plant();
    }
    let [holder, other] = [(), ()].map(|()| scene.cluster.session("plants"));
    // It looks for a deadlock so late that the service's backend is the one to find it.
    other.execute("SET deadlock_timeout = '1min'; BEGIN");
    holder.execute("BEGIN");
    lock(&holder, 1);
    lock(&other, 3);
    let mut creates = vec![begin(&scene, 1)];
    wait_until_blocked_by(&holder, &scene.cluster);
    // These wait in the queue, so they come into one batch.
    creates.extend([2, 3].map(|id| begin(&scene, id)));
    scene.server.wait_until("both to wait", || scene.metric("plant_store_queue_depth") == 2);
    holder.execute("ROLLBACK");
    wait_until_blocked_by(&other, &scene.cluster);
    // Returns when the batch, which has this row, has given up the one of the other session.
    lock(&other, 2);
    other.execute("ROLLBACK");
    for create in &mut creates {
        create.receive().plant();
    }
    assert!(scene.retries("deadlock") > 0, "the batch was the victim");
}

/// A database that is set to a stricter isolation: a row that another session commits meanwhile
/// fails a transaction.
#[test]
fn serialization_failure_of_a_create_or_a_token_command_is_repeated() {
    let cluster = Cluster::start();
    create_database(&cluster);
    let strict = "ALTER DATABASE plants SET default_transaction_isolation = 'serializable'";
    cluster.session("postgres").execute(strict);
    let scene = Scene::over(cluster, TIMEOUT);
    scene.server.command(&["token", "create", "ci"]);

    let other = scene.cluster.session("plants");
    other.execute("BEGIN; INSERT INTO plants (id, plant) VALUES (1, '{\"name\":\"Ficus\"}')");
    let mut create = begin(&scene, 1);
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
