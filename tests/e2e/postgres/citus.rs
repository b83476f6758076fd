//! A coordinator of Citus and two workers: tests of one server again, and what workers add to them.
//!
//! `PLANT_STORE_TESTS_CITUS=1 cargo test … -- --ignored postgres::citus::`

use std::time::{Duration, Instant};

use nix::unistd::Pid;
use plant_store_tests::plant;
use plant_store_tests::postgres::Cluster;

use super::scene::{Paused, Scene, as_owner, refusal};
use super::{contents, faults, refusals, servers};
use crate::hard_to_kill::load::SLACK;

/// How long a create may take, in seconds.
const TIMEOUT: usize = 3;

fn worker(scene: &Scene) -> &Cluster {
    scene.cluster.nodes().last().expect("there are two")
}

#[test]
#[ignore = "needs Citus"]
fn sigkill_of_each_node_under_load_gives_up_at_most_one_create_in_a_hundred() {
    faults::sigkill_of_the_database_under_load_gives_up_at_most_one_create_in_a_hundred();
}

#[test]
#[ignore = "needs Citus"]
fn creates_that_race_on_two_servers_give_each_id_to_one_plant() {
    servers::creates_that_race_on_two_servers_give_each_id_to_one_plant();
}

#[test]
#[ignore = "needs Citus"]
fn copy_to_shards_and_back_keeps_every_byte() {
    contents::copy_to_a_database_and_back_keeps_every_byte();
}

#[test]
#[ignore = "needs Citus"]
fn worker_that_does_not_sync_is_503_until_it_does() {
    refusals::database_that_does_not_sync_is_503_until_it_does();
}

/// Most batches need both workers.
#[test]
#[ignore = "needs Citus"]
fn worker_that_is_away_under_load_is_503_until_it_is_there() {
    refusals::refuse("away", |scene| worker(scene).kill(), |scene| worker(scene).start_again());
}

#[test]
#[ignore = "needs Citus"]
fn check_names_the_worker_that_does_not_sync() {
    let scene = Scene::start(TIMEOUT);
    let url = as_owner(&scene.cluster.url("plants"));
    let worker = worker(&scene);
    for setting in ["fsync", "full_page_writes", "synchronous_commit"] {
        worker.set(setting, "off");
        let said = refusal(&url, "check", &[]);
        let port = worker.port();
        let expected = format!("{setting}=off on its worker 127.0.0.1:{port}");
        assert!(said.contains(&expected), "{said}");
        worker.set(setting, "on");
    }
    assert!(scene.server.command(&["check"]).contains("is sound"));
}

#[test]
#[ignore = "needs Citus"]
fn create_for_a_killed_worker_is_503_by_the_deadline_and_one_for_the_other_is_200() {
    create_while_away(
        |worker| {
            worker.kill();
            Vec::new()
        },
        Cluster::start_again,
    );
}

/// For longer than a server goes on that cannot read the tokens.
#[test]
#[ignore = "needs Citus"]
fn create_for_a_silent_worker_is_503_by_the_deadline_and_one_for_the_other_is_200() {
    let pause = |worker: &Cluster| {
        let backends = worker.databases().backends("plants").into_iter().map(Pid::from_raw);
        std::iter::once(worker.pid()).chain(backends).map(Paused::pause).collect()
    };
    create_while_away(pause, |_| {});
}

/// A create that is alone in its batch needs one worker. One of the other worker is repeated until
/// its deadline, and those behind it wait.
fn create_while_away(
    send_away: impl FnOnce(&Cluster) -> Vec<Paused>,
    bring_back: impl FnOnce(&Cluster),
) {
    let scene = Scene::start(TIMEOUT);
    let away = worker(&scene);
    let session = scene.cluster.session("plants");
    let ids = |condition: &str| -> Vec<i64> {
        let query = format!(
            "SELECT id FROM generate_series(1, 100) id JOIN pg_dist_shard_placement
             ON shardid = get_shard_id_for_distribution_column('plants', id)
             WHERE nodeport {condition} {} ORDER BY id LIMIT 10",
            away.port()
        );
        let ids = session.rows(&query).into_iter().flatten().flatten();
        ids.map(|id| id.parse().expect("a number")).collect()
    };
    let lost = ids("=");
    let kept = ids("<>");
    let create = |id| scene.server.create(&plant(id, "Ficus", None));
    let deadline = Duration::from_secs(TIMEOUT as u64);
    let paused = send_away(away);
    for (id, ids_of_the_other) in lost.iter().zip(kept.chunks(5)) {
        let sent = Instant::now();
        assert_eq!(create(*id).error(), 503);
        println!("503 after {:?}", sent.elapsed());
        assert!(sent.elapsed() < deadline + SLACK, "{:?}", sent.elapsed());
        for id in ids_of_the_other {
            let sent = Instant::now();
            create(*id).plant();
            println!("200 after {:?}", sent.elapsed());
            assert!(sent.elapsed() < deadline, "{:?}", sent.elapsed());
        }
    }
    drop(paused);
    bring_back(away);
    for id in lost.into_iter().chain(kept) {
        create(id).plant();
    }
}
