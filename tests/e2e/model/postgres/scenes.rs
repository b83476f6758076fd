//! Fixed scenes on PostgreSQL and Citus, and random ones.
//!
//! `PLANT_STORE_TESTS_CITUS=1 cargo test … -- --ignored postgres::`

use std::time::Duration;

use nix::sys::signal::Signal::{SIGKILL, SIGTERM};
use rand::RngExt;
use rand::rngs::StdRng;

use super::Postgres;
use crate::model::faults::Fault::{
    self, BackendKilled, DatabaseKilled, DatabaseStopped, Failover, InternalError, NetworkClosed,
    NetworkReset, NetworkStalled, NoConnections, NoSync, Paused, ReadOnly, SessionsEnded,
    StandbyDown, WorkerDown, WorkerPaused,
};
use crate::model::play;
use crate::model::steps::Command::{Check, Copy, Export};
use crate::model::steps::Step::{
    self, Begin, End, Heal, Issue, Load, Operate, PowerCut, Rest, Revoke, Start, Stop,
};
use crate::model::steps::{random, seeds};

/// The `--store-timeout` of the servers.
const STORE_TIMEOUT: Duration = Duration::from_secs(3);

fn play(world: Postgres, steps: &[Step]) {
    play::play(world, STORE_TIMEOUT, steps);
}

macro_rules! scenes {
    ($world:expr; $($(#[$attribute:meta])* $name:ident: [$($step:expr),* $(,)?];)*) => {
        $(#[test] $(#[$attribute])* fn $name() { play($world, &[$($step),*]); })*
    };
}

scenes! {
    Postgres::new();
    restarts_of_the_database: [
        Load(200), Begin(DatabaseStopped), End(DatabaseStopped), Load(200), Begin(DatabaseKilled),
        End(DatabaseKilled), Load(200), Heal, Begin(DatabaseStopped), Load(20), Heal,
    ];
    lost_sessions: [
        Load(200), Begin(BackendKilled), Load(200), Begin(SessionsEnded), Load(50),
        Begin(SessionsEnded), Load(50), Begin(SessionsEnded), Load(200), Heal,
    ];
    failing_network: [
        Load(50), Begin(NetworkReset), Load(9), End(NetworkReset), Load(100), Begin(NetworkClosed),
        Load(9), End(NetworkClosed), Load(100), Begin(NetworkStalled), Load(9), Heal, Load(50),
    ];
    database_without_writes: [
        Load(50), Begin(ReadOnly), Load(9), End(ReadOnly), Load(50), Begin(NoConnections), Load(9),
        Heal, Load(50), Begin(InternalError), Load(9), End(InternalError), Load(50), Begin(NoSync),
        Load(9000), Heal,
    ];
    two_servers: [
        Load(400), Stop(SIGKILL), Load(200), Start, Load(200), Stop(SIGTERM), Load(100), Start,
        Issue, Load(50), Begin(Paused), Revoke, End(Paused), Load(50), Rest, Operate(Export),
    ];
    revocation_while_the_database_is_down: [
        Load(50), Issue, Load(50), Begin(NetworkStalled), Revoke, Load(9), End(NetworkStalled),
        Load(50), Revoke, Begin(DatabaseKilled), Load(50), PowerCut { some_survive: true }, Start,
    ];
    commands_under_load: [
        Load(300), Operate(Export), Operate(Check), Operate(Copy), Begin(DatabaseStopped),
        Operate(Check), Heal, Operate(Copy), Load(100),
    ];
    #[ignore = "needs Citus"]
    failing_worker: [
        Load(200), Begin(WorkerDown), Load(50), End(WorkerDown), Load(200), Begin(WorkerPaused),
        Load(50), Heal, Load(200), Begin(NoSync), Load(200), Heal,
    ];
}

scenes! {
    Postgres::with_standby();
    failover: [
        Load(100), Begin(StandbyDown), Load(9), End(StandbyDown), Load(100), Begin(Failover),
        Load(200), Heal, Issue, Load(50), Revoke, Load(50),
    ];
    standby_down_and_a_killed_primary: [
        Load(50), Begin(StandbyDown), Load(5), Begin(DatabaseKilled), End(DatabaseKilled), Load(9),
        Begin(SessionsEnded), Load(9), Heal, Load(50), Begin(Failover), Load(50),
    ];
}

/// `PLANT_STORE_TESTS_SEED=7` plays one scene again.
#[test]
fn random_scenes() {
    for seed in seeds() {
        let steps = random(seed, fault);
        println!("PLANT_STORE_TESTS_SEED={seed}: {steps:?}");
        let world = if seed % 2 == 0 { Postgres::new() } else { Postgres::with_standby() };
        play(world, &steps);
    }
}

fn fault(random: &mut StdRng) -> Fault {
    match random.random_range(0..14) {
        0 => DatabaseStopped,
        1 => DatabaseKilled,
        2 => BackendKilled,
        3 => SessionsEnded,
        4..6 => Failover,
        6..8 => StandbyDown,
        8 => ReadOnly,
        9 => NoConnections,
        10 => NetworkReset,
        11 => NetworkClosed,
        12 => NetworkStalled,
        _ => Paused,
    }
}
