//! A Citus coordinator with two workers: some tests of a single server, and tests of the workers.
//!
//! `PLANT_STORE_TESTS_CITUS=1 cargo test … -- --ignored postgres::`

use std::time::{Duration, Instant};

use plant_store_tests::plant;
use plant_store_tests::postgres::Cluster;

use super::contents;
use super::scene::{Paused, Scene, as_owner, refusal};

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
    let url = as_owner(&scene.cluster.url("plants"));
    let worker = worker(&scene);
    for setting in ["fsync", "full_page_writes", "synchronous_commit"] {
        worker.set(setting, "off");
        let stderr = refusal(&url, "check", &[]);
        let port = worker.port();
        let expected = format!("{setting}=off on its worker 127.0.0.1:{port}");
        assert!(stderr.contains(&expected), "{stderr}");
        worker.set(setting, "on");
    }
    assert!(scene.server.command(&["check"]).contains("is sound"));
}

/// Creates that need the killed worker get 503 by their deadline.
#[test]
#[ignore = "needs Citus"]
fn killed_worker_does_not_block_creates_on_the_other_worker() {
    create_while_down(
        |worker| {
            worker.kill();
            Vec::new()
        },
        Cluster::start_again,
    );
}

/// The worker is silent for longer than the lease of the tokens lasts. Creates that need it get 503
/// by their deadline.
#[test]
#[ignore = "needs Citus"]
fn silent_worker_does_not_block_creates_on_the_other_worker() {
    let pause = |worker: &Cluster| {
        let backends = worker.backends("plants");
        std::iter::once(worker.pid()).chain(backends).map(Paused::pause).collect()
    };
    create_while_down(pause, |_| {});
}

/// Takes a worker down, and sends creates for both workers one by one, so that each batch needs one
/// worker. A create for the worker that is down is retried until its deadline, and the creates
/// behind it wait.
fn create_while_down(
    take_down: impl FnOnce(&Cluster) -> Vec<Paused>,
    bring_up: impl FnOnce(&Cluster),
) {
    let scene = Scene::start(TIMEOUT);
    let down = worker(&scene);
    let session = scene.cluster.session("plants");
    let ids = |condition: &str| -> Vec<i64> {
        let query = format!(
            "SELECT id FROM generate_series(1, 100) id JOIN pg_dist_shard_placement
             ON shardid = get_shard_id_for_distribution_column('plants', id)
             WHERE nodeport {condition} {} ORDER BY id LIMIT 10",
            down.port()
        );
        let ids = session.rows(&query).into_iter().flatten().flatten();
        ids.map(|id| id.parse().expect("a number")).collect()
    };
    let lost = ids("=");
    let kept = ids("<>");
    let create = |id| scene.server.create(&plant(id, "Ficus", None));
    let deadline = Duration::from_secs(TIMEOUT);
    let paused = take_down(down);
    for (id, ids_of_the_other_worker) in lost.iter().zip(kept.chunks(5)) {
        let sent = Instant::now();
        assert_eq!(create(*id).error(), 503);
        println!("503 after {:?}", sent.elapsed());
        assert!(sent.elapsed() < deadline + SLACK, "{:?}", sent.elapsed());
        for id in ids_of_the_other_worker {
            let sent = Instant::now();
            create(*id).plant();
            println!("200 after {:?}", sent.elapsed());
            assert!(sent.elapsed() < deadline, "{:?}", sent.elapsed());
        }
    }
    drop(paused);
    bring_up(down);
    for id in lost.into_iter().chain(kept) {
        create(id).plant();
    }
}
