//! Plays a scene on real servers, and lets the model judge it.

mod commands;
mod store;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use super::clients::Clients;
use super::faults::Fault;
use super::rules::{Attempt, Model, Plant, Result, Spell, Token};
use super::stalls::Stalls;
use super::steps::Step;
use super::world::World;

/// How late an answer may be, because the machine is busy with other work.
const SLACK: Duration = Duration::from_secs(3);

/// The longest that a process may take to end after a signal.
const END: Duration = Duration::from_secs(15);

/// The longest that a process may take to end by itself after a failure that it must not survive.
const FATAL: Duration = Duration::from_secs(6);

/// The longest wait for a call of the server that hangs. Checkpoints, for example, are rare.
const SHOWN: Duration = Duration::from_secs(1);

/// The pause between two looks at the clients and the process.
const TICK: Duration = Duration::from_millis(2);

/// The faults that end when the server starts again.
const UNTIL_START: [Fault; 3] = [Fault::Killed, Fault::Terminated, Fault::SyncFailed];

/// Plays a scene. At its end, the power is cut once more. `store_timeout` is that of the servers.
pub fn play<W: World>(world: W, store_timeout: Duration, steps: &[Step]) {
    let started = Instant::now();
    let mut player = Player::new(world, store_timeout);
    let cut = Step::PowerCut { some_survive: false };
    let last = [Step::Heal, cut, Step::Start, Step::Rest, Step::Start];
    for (at, step) in steps.iter().chain(&last).enumerate() {
        let begun = started.elapsed().as_secs_f32();
        let result = player.step(*step);
        println!("{begun:6.2} {at:2} {step:?}");
        if let Err(why) = result {
            panic!("{why}\nat step {at} of {steps:?}\nlog:\n{}", player.world.log());
        }
    }
}

struct Player<W> {
    world: W,
    stalls: Stalls,
    model: Model,
    /// `None` while nobody creates plants.
    clients: Option<Clients>,
    /// The attempts since the model was settled, except those of running clients.
    attempts: Vec<Attempt>,
    /// The plants that got a final answer.
    answered: BTreeSet<Plant>,
    /// The number of the next plant.
    next: Arc<AtomicI64>,
    copies: usize,
}

impl<W: World> Player<W> {
    fn new(world: W, store_timeout: Duration) -> Self {
        let first = Token {
            name: "first".into(),
            secret: world.process().token.clone(),
            valid_since: Some(Instant::now()),
            revoke_begun: None,
            revoked: None,
        };
        Self {
            stalls: Stalls::watch(world.probe()),
            world,
            model: Model::new(first, store_timeout + SLACK),
            clients: None,
            attempts: Vec::new(),
            answered: BTreeSet::new(),
            next: Arc::default(),
            copies: 0,
        }
    }

    fn step(&mut self, step: Step) -> Result {
        self.note_stalls();
        self.notice_end()?;
        match step {
            Step::Load(answers) => self.load(answers),
            Step::Rest => self.rest(),
            Step::Begin(fault) => {
                self.begin(fault);
                Ok(())
            }
            Step::End(fault) => self.end(fault),
            Step::Heal => {
                self.end_all()?;
                self.judge_store()
            }
            Step::Stop(signal) => self.stop(signal),
            Step::PowerCut { some_survive } => {
                self.stop(Signal::SIGKILL)?;
                self.end_all()?;
                self.add_spell(Fault::PowerCut);
                self.world.cut_power(some_survive);
                self.set_ended(Fault::PowerCut);
                Ok(())
            }
            Step::Start => self.start(),
            Step::Issue => self.issue(),
            Step::Revoke => self.revoke(),
            Step::Operate(command) => self.operate(command),
        }
    }

    fn note_stalls(&mut self) {
        for (begun, ended) in self.stalls.take() {
            println!("the machine stalls for {:.1?}", ended - begun);
            let (fault, complete, ended) = (Fault::Stalled, None, Some(ended));
            self.model.spells.push(Spell { fault, begun, complete, ending: ended, ended });
        }
    }

    fn load(&mut self, answers: usize) -> Result {
        if !self.world.process().is_up() {
            self.start()?;
        }
        let secrets = self.model.tokens.iter().map(|token| token.secret.clone()).collect();
        let (addresses, next) = (self.world.addresses(), Arc::clone(&self.next));
        let clients = self.clients.get_or_insert_with(|| Clients::start(addresses, next, secrets));
        let before = clients.count();
        let begun = Instant::now();
        // Longer than an answer may take: a wait that is too long is judged in between.
        let patience = self.model.deadline + Duration::from_secs(1);
        // Without clients, the process has ended.
        while let Some(count) = self.clients.as_ref().map(Clients::count) {
            if self.must_end() && self.blocking().is_empty() {
                return self.wait_for_end();
            }
            if count >= before + answers {
                break;
            }
            if begun.elapsed() > patience {
                let is_stuck = count == before && self.blocking().is_empty();
                return if is_stuck { Err("no answers".into()) } else { Ok(()) };
            }
            self.watch()?;
        }
        Ok(())
    }

    /// Waits for a moment. Judges the waits for answers and the end of the process, if it has
    /// ended.
    fn watch(&mut self) -> Result {
        sleep(TICK);
        self.notice_end()?;
        let waiting_since = self.clients.as_ref().and_then(Clients::waiting_since);
        waiting_since.map_or(Ok(()), |since| self.model.judge_wait(since, Instant::now()))
    }

    fn rest(&mut self) -> Result {
        if self.model.in_force().any(|fault| fault == Fault::Paused) {
            // Otherwise the clients would wait for the paused server.
            self.end(Fault::Paused)?;
        }
        self.collect();
        Ok(())
    }

    /// Stops the clients, and takes their attempts.
    fn collect(&mut self) {
        self.attempts.extend(self.clients.take().map(Clients::stop).unwrap_or_default());
    }

    /// Returns the faults in force that keep the process from ending or answering.
    fn blocking(&self) -> Vec<Fault> {
        self.model.in_force().filter(|fault| fault.effect().blocks).collect()
    }

    fn must_end(&mut self) -> bool {
        let fault = Fault::SyncFailed;
        if self.world.has_failed_sync() && !self.model.in_force().any(|old| old == fault) {
            self.add_spell(fault);
            self.set_complete(fault);
        }
        self.world.process().is_up() && self.model.in_force().any(|fault| fault.effect().must_end)
    }

    fn wait_for_end(&mut self) -> Result {
        let begun = Instant::now();
        while self.world.process().is_up() {
            if begun.elapsed() > FATAL {
                return Err("the process goes on".into());
            }
            self.watch()?;
        }
        Ok(())
    }

    /// If the process has ended by itself, a fault must explain its exit code.
    fn notice_end(&mut self) -> Result {
        let Some(code) = self.ended() else { return Ok(()) };
        let is_explained = self.model.in_force().any(|fault| fault.effect().ends.contains(&code));
        if is_explained { Ok(()) } else { Err(format!("no fault explains the exit code {code}")) }
    }

    /// Returns the exit code of the process if it has ended. If it was the only server, takes the
    /// attempts of the clients.
    fn ended(&mut self) -> Option<i32> {
        let code = self.world.process_mut().ended()?;
        let addresses = self.world.addresses();
        if addresses.is_empty() {
            self.collect();
        } else if let Some(clients) = &self.clients {
            clients.move_to(addresses);
        }
        Some(code)
    }

    fn begin(&mut self, fault: Fault) {
        let is_possible = self.world.process().is_up() || matches!(fault, Fault::KilledAt { .. });
        if !is_possible || self.model.in_force().any(|old| old == fault) {
            return;
        }
        self.add_spell(fault);
        if fault == Fault::Paused {
            self.world.process().signal(Signal::SIGSTOP);
        } else if !self.world.begin(fault) {
            self.model.spells.pop();
            return;
        }
        let begun = Instant::now();
        while self.clients.is_some() && !self.world.has_shown(fault) && begun.elapsed() < SHOWN {
            sleep(TICK);
        }
        self.set_complete(fault);
        if fault.is_instant() {
            self.set_ended(fault);
        }
    }

    fn add_spell(&mut self, fault: Fault) {
        let begun = Instant::now();
        self.model.spells.push(Spell { fault, begun, complete: None, ending: None, ended: None });
    }

    fn set_complete(&mut self, fault: Fault) {
        self.in_force_mut(fault).for_each(|spell| spell.complete = Some(Instant::now()));
    }

    fn set_ending(&mut self, fault: Fault) {
        self.in_force_mut(fault).for_each(|spell| spell.ending = Some(Instant::now()));
    }

    fn set_ended(&mut self, fault: Fault) {
        self.in_force_mut(fault).for_each(|spell| spell.ended = Some(Instant::now()));
    }

    fn in_force_mut(&mut self, fault: Fault) -> impl Iterator<Item = &mut Spell> {
        let spells = self.model.spells.iter_mut();
        spells.filter(move |spell| spell.fault == fault && spell.ended.is_none())
    }

    /// Ends a fault. If the process has to end because of it, waits for that first.
    fn end(&mut self, fault: Fault) -> Result {
        if !self.model.in_force().any(|old| old == fault) {
            return Ok(());
        }
        let causes_end = fault.effect().must_end || !fault.effect().ends.is_empty();
        if causes_end && self.must_end() {
            for fault in self.blocking() {
                self.heal(fault);
                self.set_ended(fault);
            }
            self.wait_for_end()?;
        }
        self.heal(fault);
        self.notice_end()?;
        self.set_ended(fault);
        Ok(())
    }

    fn heal(&mut self, fault: Fault) {
        self.set_ending(fault);
        if fault != Fault::Paused {
            self.world.heal(fault);
        } else if self.world.process().is_up() {
            self.world.process().signal(Signal::SIGCONT);
        }
    }

    /// Ends all faults that can be ended.
    fn end_all(&mut self) -> Result {
        let faults = self.model.in_force().filter(|fault| !UNTIL_START.contains(fault));
        for fault in faults.collect::<Vec<_>>() {
            self.end(fault)?;
        }
        Ok(())
    }

    fn stop(&mut self, signal: Signal) -> Result {
        self.end(Fault::Paused)?;
        self.notice_end()?;
        if !self.world.process().is_up() {
            return Ok(());
        }
        let is_kill = signal == Signal::SIGKILL;
        let fault = if is_kill { Fault::Killed } else { Fault::Terminated };
        self.add_spell(fault);
        self.world.process().signal(signal);
        let begun = Instant::now();
        let code = loop {
            if let Some(code) = self.ended() {
                break code;
            }
            if begun.elapsed() > END {
                return Err("the process does not end".into());
            }
            sleep(TICK);
        };
        let allows = |fault: Fault| {
            let effect = fault.effect();
            effect.stops.contains(&code) || effect.ends.contains(&code)
        };
        if !is_kill && code != 0 && !self.model.in_force().any(allows) {
            return Err(format!("the exit code after SIGTERM is {code}"));
        }
        Ok(())
    }

    /// Starts the server, with the faults that kill it while it starts; then without any fault.
    fn start(&mut self) -> Result {
        if self.world.process().is_up() {
            self.end_all()?;
            return self.judge_store();
        }
        if self.model.in_force().any(|fault| matches!(fault, Fault::KilledAt { .. })) {
            for fault in self.blocking() {
                self.end(fault)?;
            }
            self.world.start_in_vain();
        }
        self.end_all()?;
        self.world.process_mut().start();
        for fault in UNTIL_START {
            self.set_ended(fault);
        }
        self.clients.iter().for_each(|clients| clients.move_to(self.world.addresses()));
        self.judge_store()
    }
}
