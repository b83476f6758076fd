//! Fixed scenes on SQLite, and random ones.

use nix::sys::signal::Signal::{SIGKILL, SIGTERM};
use rand::RngExt;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;

use super::Sqlite;
use crate::model::Step::{
    self, Begin, Check, Copy, End, Export, Heal, Issue, Load, PowerCut, Revoke, Stop,
};
use crate::model::faults::Call::{Read, Sync, Write};
use crate::model::faults::Fault::{self, Fails, Hangs, KilledAt, Paused, Reader, Removed, Slow};
use crate::model::faults::File::{self, Index, Store, Wal};
use crate::model::play::{play, play_random};

const CUT: Step = PowerCut { some_survive: false };
const TORN: Step = PowerCut { some_survive: true };

// A fault that needs a call of the server waits for it before it ends, or before the power cut.
scenes! {
    Sqlite::new();
    kills_under_load: [
        Load(200), Stop(SIGKILL), Heal, Load(30), Stop(SIGTERM), Heal, Load(700), Stop(SIGKILL),
        Heal, Load(300), Stop(SIGTERM),
    ];
    kills_in_place_of_a_call: [
        Load(50), Begin(KilledAt { call: Write, file: Wal, nth: 17 }), TORN, Heal,
        Load(50), Begin(KilledAt { call: Sync, file: Wal, nth: 5 }), TORN, Heal,
        Load(50), Begin(KilledAt { call: Write, file: Store, nth: 60 }), TORN, Heal,
        Load(50), Begin(KilledAt { call: Sync, file: Store, nth: 1 }), TORN,
    ];
    kills_during_a_start: [
        Load(400), Stop(SIGKILL), Begin(KilledAt { call: Write, file: Store, nth: 9 }), Heal,
        Load(100), TORN, Begin(KilledAt { call: Sync, file: Store, nth: 1 }), Heal,
        Load(100), TORN, Begin(KilledAt { call: Sync, file: Wal, nth: 1 }), Heal, TORN,
    ];
    kills_during_a_stop: [
        Load(50), Begin(KilledAt { call: Write, file: Store, nth: 3 }), Stop(SIGTERM), Heal,
        Load(50), Begin(KilledAt { call: Sync, file: Store, nth: 1 }), Stop(SIGTERM), TORN, Heal,
        Load(50), Begin(KilledAt { call: Sync, file: Wal, nth: 1 }), Stop(SIGTERM), CUT,
    ];
    failed_sync_of_a_commit: [
        Load(80), Begin(Fails(Sync, Wal)), Heal, Load(80), Begin(Fails(Sync, Wal)), CUT, Heal,
        Load(80), Begin(Fails(Sync, Wal)), Heal, Issue, Revoke, CUT,
    ];
    // The creates behind the commit are never tried.
    sync_that_hangs_and_then_fails: [
        Load(40), Begin(Hangs(Sync, Wal)), Load(6), Copy, Copy, Begin(Fails(Sync, Wal)),
        End(Hangs(Sync, Wal)), Load(40), Heal, Load(20), CUT,
    ];
    failed_sync_of_a_checkpoint: [Load(20), Begin(Fails(Sync, Store)), Heal, Load(20), CUT];
    commands_behind_a_failed_sync: [
        Load(80), Begin(Fails(Sync, Wal)), End(Fails(Sync, Wal)), Export, CUT,
        Load(80), Begin(Fails(Sync, Wal)), End(Fails(Sync, Wal)), Check, CUT,
        Load(80), Begin(Slow), Begin(Fails(Sync, Wal)), End(Fails(Sync, Wal)), Copy, CUT,
    ];
    // The token is created before the first load, because a checkpoint under load could take it out
    // of the WAL, which the power cut brings back.
    revocation_behind_a_failed_sync: [
        Issue, Load(20), Begin(Fails(Sync, Wal)), End(Fails(Sync, Wal)), Revoke, CUT,
    ];
    full_disk: [
        Load(50), Begin(Fails(Write, Wal)), Load(20), Heal, Load(50), Begin(Fails(Write, Wal)),
        Load(20), CUT, Heal, Begin(Fails(Write, Store)), Load(2000), Begin(Fails(Write, Wal)),
        Load(20), End(Fails(Write, Wal)), Load(50), Stop(SIGTERM),
    ];
    hanging_commit: [
        Load(50), Issue, Begin(Hangs(Sync, Wal)), Load(9), Revoke, End(Hangs(Sync, Wal)), Load(20),
        Heal, Begin(Hangs(Sync, Wal)), Load(5), Stop(SIGTERM),
    ];
    hanging_checkpoint: [
        Load(20), Begin(Hangs(Sync, Store)), Load(20), Stop(SIGTERM), Heal, Load(20), CUT,
    ];
    // Before the first load, the command does not wait for a create that hangs.
    hanging_reads_and_a_revocation: [
        Issue, Begin(Hangs(Read, Wal)), Revoke, Load(20), Heal, Load(50),
    ];
    pause_and_a_revocation: [Issue, Load(50), Begin(Paused), Revoke, Heal, Load(100)];
    tokens_on_a_slow_disk: [
        Load(20), Begin(Slow), Load(50), Issue, Load(40), Revoke, Load(40), Issue, Load(40), Revoke,
        CUT,
    ];
    removed_files: [
        Load(100), Begin(Removed(Store)), Heal, Load(50), Begin(Removed(Wal)), Heal, Load(50),
        Begin(Removed(Index)), Heal, Load(20), CUT,
    ];
    file_removed_during_a_commit: [
        Load(50), Begin(Hangs(Write, Wal)), Begin(Removed(Wal)), End(Hangs(Write, Wal)), Heal,
        Load(50), Begin(Hangs(Write, Wal)), Begin(Removed(Wal)), End(Hangs(Write, Wal)),
        End(Removed(Wal)), CUT, Heal,
        Load(50), Begin(Hangs(Write, Wal)), Begin(Removed(Store)), End(Hangs(Write, Wal)), CUT,
    ];
    long_reader: [
        Begin(Reader), Load(2500), Export, Heal, Load(500), Check, Stop(SIGTERM),
    ];
    commands_under_load: [
        Load(500), Export, Copy, Check, Load(300), Copy, Load(100), Export, Stop(SIGKILL),
    ];
}

#[test]
fn random_scenes() {
    play_random(|_| Sqlite::new(), fault);
}

fn fault(random: &mut StdRng) -> Fault {
    const FILES: [File; 3] = [Store, Wal, Index];
    let file = if random.random_bool(0.6) { Wal } else { Store };
    let any = *FILES.choose(random).expect("there are files");
    let call = if random.random() { Write } else { Sync };
    match random.random_range(0..17) {
        0..3 => Fails(call, file),
        3..5 => Hangs(call, file),
        5 => Hangs(Read, file),
        6..8 => Slow,
        8 => Reader,
        9 => Paused,
        10..13 => Removed(any),
        _ => KilledAt { call, file, nth: random.random_range(1..60) },
    }
}
