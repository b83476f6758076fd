//! The database fails under load. No acknowledged plant is lost, no plant is stored twice or was
//! never sent, every answer is declared by the contract and arrives by its deadline, and the
//! service recovers by itself.

use std::path::Path;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use plant_store_tests::postgres::{Cluster, Mode};
use plant_store_tests::{amount, wait_until};

use super::scene::{ANSWERS, Scene, rounds};
use crate::hard_to_kill::load::{Answer, Attempt, Progress, Sent};

/// The timeout of a create in seconds: the default in a soak, and more if other tests run at the
/// same time, because a restart of the database then takes longer.
fn timeout() -> usize {
    amount(20, 5)
}

/// Runs the fault under load, and asserts that at most 1 % of the creates were refused after
/// waiting for the store. Creates that were refused at once are not counted: if the database is
/// down for two seconds, for example on a busy machine, the lease of the tokens expires.
fn refuses_few(what: &str, fault: impl Fn(&Scene, &Progress)) -> Scene {
    let mut scene = Scene::start(timeout());
    let rounds = (0..rounds()).map(|_| scene.round(what, &fault));
    let sent: Sent = rounds.flatten().collect();
    let has_waited = |attempt: &&Attempt| {
        attempt.answer == Answer::Refused && attempt.took > Duration::from_secs(1)
    };
    let refused = sent.iter().filter(has_waited).count();
    let all = sent.len();
    println!("{refused} of {all} refused");
    assert!(refused * 100 <= all, "{refused} of {all} refused");
    scene
}

/// Stops the database under load and starts it again. On Citus, does so with each node in turn.
fn restart(what: &str, stop: impl Fn(&Cluster)) {
    refuses_few(what, |scene, progress| {
        for node in scene.cluster.nodes() {
            stop(node);
            node.start_again();
            progress.wait_for(ANSWERS, Answer::Created);
        }
    });
}

#[test]
fn fast_restart_refuses_at_most_1_percent_of_creates() {
    restart("fast restart", |cluster| cluster.stop(Mode::Fast));
}

#[test]
pub fn sigkill_of_the_database_refuses_at_most_1_percent_of_creates() {
    restart("SIGKILL of the database", Cluster::kill);
}

/// The server then ends all other backends, and recovers from its WAL.
#[test]
fn sigkill_of_a_backend_refuses_at_most_1_percent_of_creates() {
    refuses_few("SIGKILL of a backend", |scene, _| {
        let backend = scene.cluster.databases().backends("plants")[0];
        kill(Pid::from_raw(backend), Signal::SIGKILL).expect("the backend is running");
        let process = Path::new("/proc").join(backend.to_string());
        wait_until(|| !process.exists(), || "the backend stays".into());
    });
}

#[test]
fn terminated_backends_refuse_at_most_1_percent_of_creates() {
    let scene = refuses_few("terminated backends", |scene, progress| {
        for _ in 0..5 {
            scene.cluster.session("postgres").execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                 WHERE application_name = 'plant-store'",
            );
            progress.wait_for(ANSWERS / 10, Answer::Created);
        }
    });
    assert!(scene.retries("connection") > 0, "the batches were retried");
}
