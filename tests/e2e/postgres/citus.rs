//! A Citus coordinator with two workers: some tests of a single server, and tests of the workers.
//!
//! `PLANT_STORE_TESTS_CITUS=1 cargo test … -- --ignored postgres::`

use plant_store_tests::postgres::Cluster;
use plant_store_tests::prelude::*;

use super::{Paused, Scene, contents};

/// How long a create may take, in seconds.
const TIMEOUT: u64 = 3;

/// How late an answer may be, because the machine is busy with other work.
const SLACK: Duration = Duration::from_secs(2);

fn worker(scene: &Scene) -> &Cluster {
    scene.cluster.nodes().last().expect("there are two workers")
}

#[test]
#[ignore = "needs Citus"]
fn copy_to_shards_and_back_keeps_every_byte() {
    contents::copy_to_a_database_and_back_keeps_every_byte();
}

#[test]
#[ignore = "needs Citus"]
fn check_names_a_worker_that_does_not_sync() {
    let scene = Scene::start(TIMEOUT);
    let worker = worker(&scene);
    each_row(["fsync", "full_page_writes", "synchronous_commit"], |setting| {
        worker.set(setting, "off");
        let fault = format!("{setting}=off on its worker 127.0.0.1:{}", worker.port());
        scene.server.run("check").failed(1, &fault);
        worker.set(setting, "on");
    });
    assert!(scene.server.command(&["check"]).contains("is sound"));
}

/// A worker is killed, and then it is silent for longer than the lease of the tokens lasts. Creates
/// that need it get 503 by their deadline.
#[test]
#[ignore = "needs Citus"]
fn worker_that_is_down_blocks_no_create_on_the_other_worker() {
    let scene = Scene::start(TIMEOUT);
    let down = worker(&scene);
    down.kill();
    let lost = create_while_down(&scene, 0);
    down.start_again();
    create_all(&scene, lost);

    let processes = std::iter::once(down.pid()).chain(down.backends("plants"));
    let paused: Vec<_> = processes.map(Paused::pause).collect();
    let lost = create_while_down(&scene, 100);
    drop(paused);
    create_all(&scene, lost);
}

fn create_all(scene: &Scene, ids: Vec<i64>) {
    for id in ids {
        scene.server.create(&plant(id, "Ficus", None)).plant();
    }
}

/// Sends creates for both workers one by one, so that each batch needs one worker. A create for the
/// worker that is down is retried until its deadline, and the creates behind it wait. Returns the
/// ids of the creates for that worker.
fn create_while_down(scene: &Scene, after: i64) -> Vec<i64> {
    let session = scene.cluster.session("plants");
    let ids = |condition: &str| -> Vec<i64> {
        let query = format!(
            "SELECT id FROM generate_series({after} + 1, {after} + 100) id
             JOIN pg_dist_shard_placement
             ON shardid = get_shard_id_for_distribution_column('plants', id)
             WHERE nodeport {condition} {} ORDER BY id LIMIT 10",
            worker(scene).port()
        );
        let ids = session.rows(&query).into_iter().flatten().flatten();
        ids.map(|id| id.parse().expect("a number")).collect()
    };
    let [lost, kept] = ["=", "<>"].map(ids);
    let create = |id| scene.server.create(&plant(id, "Ficus", None));
    let deadline = Duration::from_secs(TIMEOUT);
    for (id, ids_of_the_other_worker) in lost.iter().zip(kept.chunks(5)) {
        let sent = Instant::now();
        assert_eq!(create(*id).error(), 503);
        assert!(sent.elapsed() < deadline + SLACK, "{:?}", sent.elapsed());
        for id in ids_of_the_other_worker {
            let sent = Instant::now();
            create(*id).plant();
            assert!(sent.elapsed() < deadline, "{:?}", sent.elapsed());
        }
    }
    lost
}
