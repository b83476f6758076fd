//! The steps of a scene, and random lists of them.

use nix::sys::signal::Signal;
use plant_store_tests::amount;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

use super::faults::Fault;

#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// Clients create plants until that many more were answered, and go on during the next steps.
    /// A server that is down is started first.
    Load(usize),
    /// The clients stop.
    Rest,
    Begin(Fault),
    End(Fault),
    /// Ends all faults.
    Heal,
    Stop(Signal),
    /// SIGKILL, and every write that was not synced is lost, or a random half of them.
    PowerCut {
        some_survive: bool,
    },
    /// Ends all faults, and starts the server if it is down.
    Start,
    /// Creates a token.
    Issue,
    /// Revokes the newest token.
    Revoke,
    Operate(Command),
}

/// A command that reads the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    Export,
    Check,
    Copy,
}

/// The seeds of a soak differ each time. The seed of a short run is always the same.
pub fn seeds() -> Vec<u64> {
    if let Ok(seed) = std::env::var("PLANT_STORE_TESTS_SEED") {
        return vec![seed.parse().expect("a seed is a number")];
    }
    let first = amount(0, rand::random_range(0..1_000_000)) as u64;
    (first..).take(amount(1, 100)).collect()
}

/// Returns the random scene of a seed. `fault` returns a random fault.
pub fn random(seed: u64, fault: fn(&mut StdRng) -> Fault) -> Vec<Step> {
    let mut random = StdRng::seed_from_u64(seed);
    let mut steps = vec![Step::Load(random.random_range(0..200))];
    let mut begun = Vec::new();
    for _ in 0..random.random_range(4..12) {
        let step = step(&mut random, fault, &begun);
        if let Step::Begin(fault) = step {
            begun.push(fault);
        }
        steps.push(step);
        // A fault without a load shows nothing.
        let is_command = matches!(step, Step::Issue | Step::Revoke | Step::Operate(_));
        if !is_command && random.random_bool(0.8) {
            steps.push(Step::Load(random.random_range(0..200)));
        }
    }
    steps
}

fn step(random: &mut StdRng, fault: fn(&mut StdRng) -> Fault, begun: &[Fault]) -> Step {
    const COMMANDS: [Command; 3] = [Command::Export, Command::Check, Command::Copy];
    match random.random_range(0..26) {
        0..2 => Step::Load(random.random_range(0..400)),
        2..10 => Step::Begin(fault(random)),
        10..13 => begun.choose(random).map_or(Step::Heal, |fault| Step::End(*fault)),
        13 => Step::Rest,
        14 => Step::Heal,
        15 => Step::Stop(Signal::SIGTERM),
        16 => Step::Stop(Signal::SIGKILL),
        17..19 => Step::PowerCut { some_survive: random.random() },
        19 => Step::Start,
        20 => Step::Issue,
        21..23 => Step::Revoke,
        _ => Step::Operate(*COMMANDS.choose(random).expect("there are commands")),
    }
}
