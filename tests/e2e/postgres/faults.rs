//! The database fails under load. No plant that was answered with 200 is lost, no plant is there
//! twice, no plant is there that was not sent, every answer is declared and comes by the deadline,
//! and afterwards the service goes on by itself.

use std::path::Path;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use plant_store_tests::postgres::{Cluster, Mode};
use plant_store_tests::{amount, wait_until};

use super::scene::{ANSWERS, Scene, rounds};
use crate::hard_to_kill::load::{Answer, Attempt, Progress, Sent};

/// How long a create may take, in seconds: the default, but more if other tests run at the
/// same time, because a restart of the database then takes long.
fn timeout() -> usize {
    amount(20, 5)
}

/// A create that was refused after it had waited for the store is given up. If the database is away
/// for two seconds, such as on a busy machine, others are refused at once: the tokens are too old.
fn gives_up_few(what: &str, fault: impl Fn(&Scene, &Progress)) -> Scene {
    let mut scene = Scene::start(timeout());
    let rounds = (0..rounds()).map(|_| scene.round(what, &fault));
    let sent: Sent = rounds.flatten().collect();
    let has_waited = |attempt: &&Attempt| {
        attempt.answer == Answer::Refused && attempt.took > Duration::from_secs(1)
    };
    let given_up = sent.iter().filter(has_waited).count();
    let all = sent.len();
    println!("{given_up} of {all} given up");
    assert!(given_up * 100 <= all, "{given_up} of {all} given up");
    scene
}

/// On Citus, each node in turn.
fn restart(what: &str, stop: impl Fn(&Cluster)) {
    gives_up_few(what, |scene, progress| {
        for node in scene.cluster.nodes() {
            stop(node);
            node.start_again();
            progress.wait_for(ANSWERS, Answer::Created);
        }
    });
}

#[test]
fn fast_restart_under_load_gives_up_at_most_one_create_in_a_hundred() {
    restart("fast restart", |cluster| cluster.stop(Mode::Fast));
}

#[test]
pub fn sigkill_of_the_database_under_load_gives_up_at_most_one_create_in_a_hundred() {
    restart("SIGKILL of the database", Cluster::kill);
}

/// The server ends all other backends then, and recovers from its log.
#[test]
fn sigkill_of_a_backend_under_load_gives_up_at_most_one_create_in_a_hundred() {
    gives_up_few("SIGKILL of a backend", |scene, _| {
        let backend = scene.cluster.databases().backends("plants")[0];
        kill(Pid::from_raw(backend), Signal::SIGKILL).expect("the backend is there");
        let process = Path::new("/proc").join(backend.to_string());
        wait_until(|| !process.exists(), || "the backend stays".into());
    });
}

#[test]
fn terminated_backends_under_load_give_up_at_most_one_create_in_a_hundred() {
    let scene = gives_up_few("terminated backends", |scene, progress| {
        for _ in 0..5 {
            scene.cluster.session("postgres").execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                 WHERE application_name = 'plant-store'",
            );
            progress.wait_for(ANSWERS / 10, Answer::Created);
        }
    });
    assert!(scene.retries("connection") > 0, "the batches were repeated");
}
