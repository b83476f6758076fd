//! The database rolls a batch back because of another session: it is repeated, and no create is
//! refused.

use std::thread;

use plant_store_tests::plant;
use plant_store_tests::postgres::Cluster;

use super::scene::{Scene, create_database, wait_until_blocked_by};

/// How long a create may take, in seconds. Nothing here may come near it.
const TIMEOUT: usize = 50;

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
