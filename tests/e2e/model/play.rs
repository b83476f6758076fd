//! Plays a scene on real servers, and lets the model judge it.

mod commands;

use std::sync::{Arc, MutexGuard};
use std::thread::{JoinHandle, sleep};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use nix::unistd::Pid;
use plant_store_tests::process::{Paused, pid, send};
use plant_store_tests::{EVENT_TIMEOUT, Launched, seeds};
use rand::rngs::StdRng;

use super::clients::Load;
use super::faults::{Call, Fault};
use super::rules::{Model, Result, Spell, Token};
use super::world::{DEADLINE, World, log, serve};
use super::{Step, random_steps};

/// The longest that a process may take to end after a signal.
const END: Duration = Duration::from_secs(15);

/// The longest that a process may take to end by itself after a failure that it must not survive.
const FATAL: Duration = Duration::from_secs(6);

/// The longest pause at the begin of a step. No step takes longer than the rest of the 30 s after
/// which the server closes an idle connection, so no client loses an answer by a pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// The pause between two looks at the model and the process.
const TICK: Duration = Duration::from_millis(2);

/// Plays a fixed scene. It fails if a fault cannot begin, or has not met the service when it ends:
/// without its fault, a scene proves nothing.
pub fn play(world: impl World, steps: &[Step]) {
    Player::new(world, true).play(steps);
}

/// Plays random scenes, and skips what is not possible. `PLANT_STORE_TESTS_SEED=7` plays one scene
/// again.
pub fn play_random<W: World>(world: impl Fn(u64) -> W, fault: impl Fn(&mut StdRng) -> Fault) {
    for seed in seeds(1, 100) {
        let steps = random_steps(seed, &fault);
        println!("PLANT_STORE_TESTS_SEED={seed}: {steps:?}");
        Player::new(world(seed), false).play(&steps);
    }
}

struct Player<W> {
    world: W,
    load: Arc<Load>,
    /// Empty before the first load.
    clients: Vec<JoinHandle<()>>,
    /// `None` while it is down.
    server: Option<Launched>,
    /// The server, during [`Fault::Paused`].
    paused: Option<Paused>,
    is_fixed: bool,
}

impl<W: World> Player<W> {
    fn new(world: W, is_fixed: bool) -> Self {
        let first = Token::new("first", world.token(), Some(Instant::now()));
        let load = Arc::new(Load::new(Model::new(first, DEADLINE)));
        world.second().into_iter().for_each(|address| load.add(address));
        Self { world, load, clients: Vec::new(), server: None, paused: None, is_fixed }
    }

    /// Starts the server and plays the steps. At the end, the power is cut once more.
    fn play(mut self, steps: &[Step]) {
        let started = Instant::now();
        let last = [Step::Heal, Step::PowerCut { some_survive: false }, Step::Heal];
        for (at, step) in last[..1].iter().chain(steps).chain(&last).enumerate() {
            let begun = started.elapsed().as_secs_f32();
            let result = self.step(*step);
            println!("{begun:6.2} {at:2} {step:?}");
            if let Err(why) = result {
                panic!("{why}\nat step {at}, {step:?}\nlog:\n{}", log(&self.world));
            }
        }
        self.load.stop(std::mem::take(&mut self.clients));
        let judged = self.judge_store().and_then(|()| self.watch());
        judged.unwrap_or_else(|why| panic!("{why}\nafter {steps:?}"));
    }

    fn step(&mut self, step: Step) -> Result {
        self.watch()?;
        let paused = self.model().spell(Fault::Paused).map(|spell| spell.begun.elapsed());
        if paused.is_some_and(|paused| paused > LONGEST_PAUSE) {
            self.heal(Fault::Paused)?;
        }
        match step {
            Step::Load(answers) => self.load(answers),
            Step::Begin(fault) => self.begin(fault),
            Step::End(fault) => self.end(fault),
            Step::Heal => self.recover(),
            Step::Stop(signal) => self.stop(signal),
            Step::PowerCut { some_survive } => self.cut_power(some_survive),
            Step::Issue => self.issue(),
            Step::Revoke => self.revoke(),
            Step::Export | Step::Check | Step::Copy => self.read(step),
        }
    }

    fn model(&self) -> MutexGuard<'_, Model> {
        self.load.model()
    }

    fn pid(&self) -> Option<Pid> {
        self.server.as_ref().map(|server| pid(&server.process))
    }

    /// Whether clients can create plants.
    fn is_served(&self) -> bool {
        self.server.is_some() || self.world.second().is_some()
    }

    /// Waits for a moment, and looks which faults have met the service by then. Fails if the model
    /// has rejected an answer, or if no fault explains how the process has ended.
    fn watch(&mut self) -> Result {
        sleep(TICK);
        let faults = self.model().in_force();
        for fault in faults {
            self.has_met(fault);
        }
        self.notice_end()?;
        self.model().failure.take().map_or(Ok(()), Err)
    }

    fn notice_end(&mut self) -> Result {
        let Some(server) = &mut self.server else { return Ok(()) };
        let Some(status) = server.process.try_wait().expect("it can be waited for") else {
            return Ok(());
        };
        self.server = None;
        let code = shell_code(status);
        let is_explained = |fault: &Fault| fault.effect().exits.contains(&code);
        if self.model().in_force().iter().any(is_explained) {
            return Ok(());
        }
        Err(format!("no fault explains the exit code {code}"))
    }

    fn load(&mut self, answers: usize) -> Result {
        if !self.is_served() {
            self.recover()?;
        }
        if self.clients.is_empty() {
            self.clients = self.load.start();
        }
        let before = self.model().answers;
        let begun = Instant::now();
        loop {
            let count = self.model().answers;
            if count >= before + answers || !self.is_served() {
                return Ok(());
            }
            let is_blocked = !self.blocking().is_empty();
            if self.must_end() && !is_blocked {
                return self.wait_for_end(FATAL);
            }
            // Longer than an answer may take.
            if begun.elapsed() > DEADLINE + Duration::from_secs(1) {
                let is_stuck = count == before && !is_blocked;
                return if is_stuck { Err("no answers".into()) } else { Ok(()) };
            }
            self.watch()?;
        }
    }

    fn begin(&mut self, fault: Fault) -> Result {
        let is_possible = self.server.is_some() || matches!(fault, Fault::KilledAt { .. });
        // A reader of other files would change them.
        let uses_files = fault.removes_a_file() || fault == Fault::Reader;
        let has_files = self.is_intact() || !uses_files;
        if !is_possible || !has_files || self.model().spell(fault).is_some() {
            return self.skip(fault);
        }
        self.add_spell(fault);
        if fault == Fault::Paused {
            self.paused = self.pid().map(Paused::pause);
        } else if !self.world.begin(fault) {
            self.model().spells.pop();
            return self.skip(fault);
        }
        // The server rarely reads.
        let is_met_soon = matches!(fault, Fault::Hangs(Call::Write | Call::Sync, _));
        if is_met_soon && !self.clients.is_empty() {
            self.meet(fault)?;
        }
        if !matches!(fault, Fault::Fails(Call::Sync, _)) {
            self.change(fault, |spell| spell.complete = Some(Instant::now()));
        }
        if fault.is_instant() {
            self.change(fault, |spell| spell.ended = Some(Instant::now()));
        }
        Ok(())
    }

    /// Fails in a fixed scene.
    fn skip(&self, what: impl std::fmt::Debug) -> Result {
        if self.is_fixed { Err(format!("{what:?} is not possible")) } else { Ok(()) }
    }

    fn add_spell(&self, fault: Fault) {
        self.model().spells.push(Spell::new(fault, Instant::now()));
    }

    /// Changes the spell of a fault, if the fault is in force.
    fn change(&self, fault: Fault, change: impl FnOnce(&mut Spell)) {
        if let Some(spell) = self.model().spell(fault) {
            change(spell);
        }
    }

    /// Waits in a fixed scene until a fault has met the service.
    fn meet(&mut self, fault: Fault) -> Result {
        let begun = Instant::now();
        while !self.has_met(fault) && self.is_fixed {
            let can_meet = !self.clients.is_empty() && self.is_served();
            if !can_meet || begun.elapsed() > EVENT_TIMEOUT {
                return Err(format!("{fault:?} has not met the service"));
            }
            self.watch()?;
        }
        Ok(())
    }

    /// Returns whether a fault has met the service by now, and notes it: a hang ends early if its
    /// file is removed. A failing sync is fully in force from then on.
    fn has_met(&self, fault: Fault) -> bool {
        let mut model = self.model();
        let Some(spell) = model.spell(fault) else { return true };
        spell.has_met |= !fault.is_shown_by_answers() && self.world.has_met(fault);
        if spell.has_met {
            spell.complete.get_or_insert_with(Instant::now);
        }
        spell.has_met
    }

    /// Ends a fault. If the process has to end because of it, waits for that first.
    fn end(&mut self, fault: Fault) -> Result {
        if self.model().spell(fault).is_none() {
            return Ok(());
        }
        self.meet(fault)?;
        if matches!(fault, Fault::KilledAt { .. }) && self.has_met(fault) {
            // The disk may have killed the server without its end having been noticed.
            self.stop(Signal::SIGKILL)?;
        }
        if !fault.effect().exits.is_empty() && self.must_end() {
            for fault in self.blocking() {
                self.heal(fault)?;
            }
            self.wait_for_end(FATAL)?;
        }
        self.heal(fault)
    }

    fn heal(&mut self, fault: Fault) -> Result {
        self.change(fault, |spell| spell.complete = None);
        if fault == Fault::Paused {
            self.paused = None;
        } else {
            self.world.heal(fault);
        }
        self.notice_end()?;
        self.change(fault, |spell| spell.ended = Some(Instant::now()));
        Ok(())
    }

    /// Ends all faults that can be ended.
    fn end_all(&mut self) -> Result {
        let faults = self.model().in_force();
        for fault in faults.into_iter().filter(|fault| !UNTIL_START.contains(fault)) {
            self.end(fault)?;
        }
        Ok(())
    }

    /// Returns the faults in force that keep the process from ending or answering.
    fn blocking(&self) -> Vec<Fault> {
        let mut faults = self.model().in_force();
        faults.retain(|fault| fault.effect().blocks());
        faults
    }

    fn must_end(&self) -> bool {
        self.server.is_some() && self.model().spells.iter().any(Spell::must_end)
    }

    fn wait_for_end(&mut self, limit: Duration) -> Result {
        let begun = Instant::now();
        while self.server.is_some() {
            if begun.elapsed() > limit {
                return Err("the process does not end".into());
            }
            self.watch()?;
        }
        Ok(())
    }

    fn stop(&mut self, signal: Signal) -> Result {
        self.end(Fault::Paused)?;
        let Some(server) = &self.server else { return Ok(()) };
        let is_kill = signal == Signal::SIGKILL;
        self.add_spell(if is_kill { Fault::Killed } else { Fault::Terminated });
        send(signal, &server.process);
        self.wait_for_end(END)
    }

    fn cut_power(&mut self, some_survive: bool) -> Result {
        let faults = self.model().in_force();
        faults.into_iter().try_for_each(|fault| self.meet(fault))?;
        self.stop(Signal::SIGKILL)?;
        self.end_all()?;
        self.add_spell(Fault::PowerCut);
        self.world.cut_power(some_survive);
        self.change(Fault::PowerCut, |spell| spell.ended = Some(Instant::now()));
        Ok(())
    }

    /// Ends all faults, starts the server if it is down, and judges the store.
    fn recover(&mut self) -> Result {
        let is_killed = |fault: &Fault| matches!(fault, Fault::KilledAt { .. });
        if self.server.is_none() && self.model().in_force().iter().any(is_killed) {
            for fault in self.blocking() {
                self.end(fault)?;
            }
            // Killed by the fault, or else by the drop.
            drop(serve(self.world.folder(), self.world.command("serve")));
        }
        self.end_all()?;
        if self.server.is_none() {
            let server = serve(self.world.folder(), self.world.command("serve"));
            let server = server.map_err(|error| format!("{error:#}"))?;
            self.load.add(server.address);
            self.server = Some(server);
            for fault in UNTIL_START {
                self.change(fault, |spell| spell.ended = Some(Instant::now()));
            }
        }
        self.judge_store()
    }
}

/// The faults that end when the server starts again.
const UNTIL_START: [Fault; 2] = [Fault::Killed, Fault::Terminated];

/// Returns an exit code as a shell does.
fn shell_code(status: std::process::ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or_default()
}
