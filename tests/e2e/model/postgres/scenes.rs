//! Fixed scenes on PostgreSQL and Citus, and random ones.
//!
//! `PLANT_STORE_TESTS_CITUS=1 cargo test … -- --ignored postgres::`

use nix::sys::signal::Signal::{SIGKILL, SIGTERM};
use rand::seq::IndexedRandom;

use super::Postgres;
use crate::model::Step::{
    self, Begin, Check, Copy, End, Export, Heal, Issue, Load, PowerCut, Revoke, Stop,
};
use crate::model::faults::Fault::{
    self, BackendKilled, DatabaseKilled, DatabaseStopped, Failover, InternalError, NetworkReset,
    NetworkStalled, NoConnections, NoSync, Paused, ReadOnly, StandbyDown, WorkerDown, WorkerPaused,
};
use crate::model::play::{play, play_random};

const CUT: Step = PowerCut { some_survive: false };

scenes! {
    Postgres::new();
    restarts_of_the_database: [
        Load(200), Begin(DatabaseStopped), End(DatabaseStopped), Load(200), Begin(DatabaseKilled),
        End(DatabaseKilled), Load(200), Begin(BackendKilled), Load(200), Begin(BackendKilled),
        Load(50), Heal, Begin(DatabaseStopped), Load(20), Heal,
    ];
    failing_network: [
        Load(50), Begin(NetworkReset), Load(9), End(NetworkReset), Load(100), Begin(NetworkStalled),
        Load(9), Heal, Load(50),
    ];
    database_without_writes: [
        Load(50), Begin(ReadOnly), End(ReadOnly), Load(50), Begin(NoConnections), Heal,
        Load(50), Begin(InternalError), Load(9), End(InternalError), Load(50), Begin(NoSync), Heal,
    ];
    two_servers: [
        Load(400), Stop(SIGKILL), Load(200), Heal, Load(200), Stop(SIGTERM), Load(100), Heal,
        Issue, Load(50), Begin(Paused), Revoke, End(Paused), Load(50), Export,
    ];
    revocation_while_the_database_is_down: [
        Load(50), Issue, Load(50), Begin(NetworkStalled), Revoke, Load(9), End(NetworkStalled),
        Load(50), Revoke, Begin(DatabaseKilled), Load(50), CUT, Heal,
    ];
    commands_under_load: [
        Load(300), Export, Check, Copy, Begin(DatabaseStopped), Check, Heal, Copy, Load(100),
    ];
    #[ignore = "needs Citus"]
    failing_worker: [
        Load(200), Begin(WorkerDown), Load(50), End(WorkerDown), Load(200), Begin(WorkerPaused),
        Load(50), Heal, Load(200), Begin(NoSync), Heal,
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
        Begin(BackendKilled), Load(9), Heal, Load(50), Begin(Failover), Load(50),
    ];
}

#[test]
fn random_scenes() {
    let world = |seed| if seed % 2 == 0 { Postgres::new() } else { Postgres::with_standby() };
    play_random(world, |random| *FAULTS.choose(random).expect("there are faults"));
}

/// The faults of random scenes.
const FAULTS: [Fault; 12] = [
    DatabaseStopped,
    DatabaseKilled,
    BackendKilled,
    Failover,
    Failover,
    StandbyDown,
    StandbyDown,
    ReadOnly,
    NoConnections,
    NetworkReset,
    NetworkStalled,
    Paused,
];
