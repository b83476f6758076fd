//! The store as a model. An id is a register that is written once: the first 200 or 409 for it
//! shows which plant is stored, and every other answer leaves that open. A token is valid or
//! revoked. A scene is a list of steps that begins and ends faults under load; the model judges
//! every answer, every export, every check and the end of every process.
//!
//! `faults.rs` is the only table of what a fault allows, and `rules.rs` judges without I/O.

/// Fixed scenes, each of which is a test.
macro_rules! scenes {
    ($world:expr; $($(#[$attribute:meta])* $name:ident: [$($step:expr),* $(,)?];)*) => {
        $(#[test] $(#[$attribute])* fn $name() { play($world, &[$($step),*]); })*
    };
}

mod clients;
mod faults;
mod play;
mod postgres;
mod rules;
mod sqlite;
mod world;

use nix::sys::signal::Signal;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

use faults::Fault;

/// A step of a scene.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// Clients create plants until that many more were answered, and go on during the next steps.
    /// If no server is up, one is started first.
    Load(usize),
    Begin(Fault),
    End(Fault),
    /// Ends all faults, starts the server if it is down, and judges the store.
    Heal,
    Stop(Signal),
    /// SIGKILL, and every write that was not synced is lost, or a random half of them.
    PowerCut {
        some_survive: bool,
    },
    /// Creates a token.
    Issue,
    /// Revokes the newest token.
    Revoke,
    Export,
    Check,
    Copy,
}

/// Returns the random scene of a seed. `fault` returns a random fault.
fn random_steps(seed: u64, fault: impl Fn(&mut StdRng) -> Fault) -> Vec<Step> {
    let mut random = StdRng::seed_from_u64(seed);
    let mut steps = vec![Step::Load(random.random_range(0..200))];
    let mut begun = Vec::new();
    for _ in 0..random.random_range(4..12) {
        let step = match random.random_range(0..24) {
            0..8 => Step::Begin(fault(&mut random)),
            8..11 => begun.choose(&mut random).map_or(Step::Heal, |fault| Step::End(*fault)),
            11..13 => Step::Heal,
            13 => Step::Stop(Signal::SIGTERM),
            14 => Step::Stop(Signal::SIGKILL),
            15..17 => Step::PowerCut { some_survive: random.random() },
            17 => Step::Issue,
            18..20 => Step::Revoke,
            20 => Step::Export,
            21 => Step::Check,
            _ => Step::Copy,
        };
        if let Step::Begin(fault) = step {
            begun.push(fault);
        }
        steps.push(step);
        // A fault without a load shows nothing.
        if random.random_bool(0.7) {
            steps.push(Step::Load(random.random_range(0..400)));
        }
    }
    steps
}
