//! Fixed scenes on SQLite, and random ones.

use std::time::Duration;

use nix::sys::signal::Signal::{SIGKILL, SIGTERM};
use rand::RngExt;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;

use super::Sqlite;
use crate::model::faults::Call::{Sync, Write};
use crate::model::faults::Fault::{
    self, Full, KilledAt, Paused, Reader, ReadsHang, Removed, Renamed, Replaced, Slow, SyncFails,
    SyncHangs, WriteHangs,
};
use crate::model::faults::File::{self, Index, Store, Wal};
use crate::model::play;
use crate::model::steps::Command::{Check, Copy, Export};
use crate::model::steps::Step::{
    self, Begin, End, Heal, Issue, Load, Operate, PowerCut, Rest, Revoke, Start, Stop,
};
use crate::model::steps::{random, seeds};

const CUT: Step = PowerCut { some_survive: false };
const TORN: Step = PowerCut { some_survive: true };

/// The `--store-timeout` of the servers.
const STORE_TIMEOUT: Duration = Duration::from_secs(2);

fn play(steps: &[Step]) {
    play::play(Sqlite::new(), STORE_TIMEOUT, steps);
}

macro_rules! scenes {
    ($($name:ident: [$($step:expr),* $(,)?];)*) => {
        $(#[test] fn $name() { play(&[$($step),*]); })*
    };
}

scenes! {
    kills_under_load: [
        Load(200), Stop(SIGKILL), Start, Load(30), Stop(SIGKILL), Start, Load(700), Stop(SIGKILL),
    ];
    stops_under_load: [
        Load(200), Stop(SIGTERM), Start, Load(30), Stop(SIGTERM), Start, Load(700), Stop(SIGTERM),
    ];
    kills_in_place_of_a_call: [
        Load(50), Begin(KilledAt { call: Write, file: Wal, nth: 17 }), Load(400), TORN, Start,
        Load(50), Begin(KilledAt { call: Sync, file: Wal, nth: 5 }), Load(400), TORN, Start,
        Load(50), Begin(KilledAt { call: Write, file: Store, nth: 60 }), Load(3000), TORN, Start,
        Load(50), Begin(KilledAt { call: Sync, file: Store, nth: 1 }), Load(3000), TORN,
    ];
    kills_during_a_start: [
        Load(400), Stop(SIGKILL), Begin(KilledAt { call: Write, file: Store, nth: 9 }), Start,
        Load(100), Stop(SIGKILL), Begin(KilledAt { call: Sync, file: Store, nth: 1 }), TORN, Start,
        Load(100), Stop(SIGKILL), Begin(KilledAt { call: Sync, file: Wal, nth: 1 }), Start, TORN,
    ];
    kills_during_a_stop: [
        Load(50), Begin(KilledAt { call: Write, file: Store, nth: 3 }), Stop(SIGTERM), Start,
        Load(50), Begin(KilledAt { call: Sync, file: Store, nth: 1 }), Stop(SIGTERM), TORN, Start,
        Load(50), Begin(KilledAt { call: Sync, file: Wal, nth: 1 }), Stop(SIGTERM), CUT,
    ];
    failed_sync_of_a_commit: [
        Load(80), Begin(SyncFails(Wal)), Load(80), Start,
        Load(80), Begin(SyncFails(Wal)), Load(80), CUT, Start,
        Load(80), Begin(SyncFails(Wal)), Load(80), Start, Issue, Revoke, CUT,
    ];
    failed_slow_sync_of_a_commit: [
        Begin(Slow), Load(40), Begin(SyncFails(Wal)), Load(40), Start, Begin(Slow), Load(40),
        Begin(SyncFails(Wal)), Load(40),
    ];
    // The creates behind the commit are never tried.
    sync_that_hangs_and_then_fails: [
        Load(40), Begin(SyncHangs(Wal)), Load(6), Operate(Copy), Operate(Copy),
        Begin(SyncFails(Wal)),
        End(SyncHangs(Wal)), Load(40), Start, Load(20), CUT,
    ];
    failed_sync_of_a_checkpoint: [Begin(SyncFails(Store)), Load(3000), Start, Load(20), CUT];
    commands_behind_a_failed_sync: [
        Load(80), Begin(SyncFails(Wal)), Load(80), Heal, Operate(Export), CUT,
        Load(80), Begin(SyncFails(Wal)), Load(80), Heal, Operate(Check), CUT,
        Load(80), Begin(Slow), Begin(SyncFails(Wal)), Load(80), Heal, Operate(Copy), CUT,
    ];
    revocation_behind_a_failed_sync: [
        Load(20), Issue, Load(20), Begin(SyncFails(Wal)), Load(50), Heal, Revoke, CUT,
        Load(20), Issue, Load(20), Begin(SyncFails(Wal)), Load(50), Heal, Revoke, TORN,
    ];
    full_disk: [
        Load(50), Begin(Full(Wal)), Load(20), Heal, Load(50), Begin(Full(Wal)), Load(20), Heal,
        Load(50), Begin(Full(Wal)), Load(20), CUT, Start, Begin(Full(Store)), Load(2000),
        Begin(Full(Wal)), Load(20), End(Full(Wal)), Load(50), Stop(SIGTERM),
    ];
    hanging_commit: [
        Load(50), Issue, Begin(SyncHangs(Wal)), Load(9), Revoke, End(SyncHangs(Wal)), Load(20),
        Heal, Begin(SyncHangs(Wal)), Load(5), Stop(SIGTERM),
    ];
    hanging_checkpoint: [Begin(SyncHangs(Store)), Load(3000), Stop(SIGTERM), Start, Load(20), CUT];
    hanging_reads_and_a_revocation: [
        Issue, Load(50), Rest, Begin(ReadsHang), Revoke, Load(20), Heal, Load(50),
    ];
    pause_and_a_revocation: [Issue, Load(50), Begin(Paused), Revoke, Heal, Load(100)];
    tokens_on_a_slow_disk: [
        Begin(Slow), Load(50), Issue, Load(40), Revoke, Load(40), Issue, Load(40), Revoke, CUT,
    ];
    renamed_files: [
        Load(300), Begin(Renamed(Store)), Load(300), Start, Load(50), Begin(Renamed(Wal)),
        Load(300), Start, Load(50), Begin(Renamed(Index)), Load(300), Start, Load(20), CUT,
    ];
    removed_files: [
        Load(100), Begin(Removed(Store)), Load(300), Start, Load(50), Begin(Removed(Wal)),
        Load(300), Start, Load(50), Begin(Removed(Index)), Load(300), Start, Load(20), CUT,
    ];
    replaced_files: [
        Load(100), Begin(Replaced(Store)), Load(300), Start, Load(50), Begin(Replaced(Wal)),
        Load(300), Start, Load(50), Begin(Replaced(Index)), Load(300), Start, Load(20), CUT,
    ];
    file_removed_during_a_commit: [
        Load(50), Begin(WriteHangs(Wal)), Begin(Removed(Wal)), End(WriteHangs(Wal)), Load(50),
        Start, Load(50), Begin(WriteHangs(Wal)), Begin(Renamed(Store)), End(WriteHangs(Wal)),
        Load(50), CUT,
    ];
    long_reader: [
        Begin(Reader), Load(2500), Operate(Export), Heal, Load(500), Operate(Check), Stop(SIGTERM),
    ];
    commands_under_load: [
        Load(500), Operate(Export), Operate(Copy), Operate(Check), Load(300), Rest, Operate(Copy),
        Load(100), Operate(Export), Stop(SIGKILL),
    ];
}

/// `PLANT_STORE_TESTS_SEED=7` plays one scene again.
#[test]
fn random_scenes() {
    for seed in seeds() {
        let steps = random(seed, fault);
        println!("PLANT_STORE_TESTS_SEED={seed}: {steps:?}");
        play(&steps);
    }
}

fn fault(random: &mut StdRng) -> Fault {
    const FILES: [File; 3] = [Store, Wal, Index];
    let file = if random.random_bool(0.6) { Wal } else { Store };
    let any = *FILES.choose(random).expect("there are files");
    match random.random_range(0..17) {
        0..2 => SyncFails(file),
        2 => SyncHangs(file),
        3 => WriteHangs(file),
        4 => Full(file),
        5..7 => Slow,
        7 => Reader,
        8 => Paused,
        9 => ReadsHang,
        10 => Renamed(any),
        11 => Removed(any),
        12 => Replaced(any),
        _ => {
            let call = if random.random() { Write } else { Sync };
            KilledAt { call, file, nth: random.random_range(1..60) }
        }
    }
}
