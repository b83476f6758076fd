//! Commands under load, and the judgement of the store after the last fault has ended.

use std::thread::sleep;
use std::time::{Duration, Instant};

use plant_store_client::types::NewPlant;
use plant_store_tests::Connection;
use plant_store_tests::process::Ended;
use serde_json::Value;
use tempfile::TempDir;

use super::Player;
use crate::model::Step;
use crate::model::clients::{PAUSE, body};
use crate::model::faults::Fault;
use crate::model::rules::{Answer, Plant, Result, Spell, Stored, Token};
use crate::model::world::{World, operate};

/// The longest that the service may take to recover after the last fault has ended.
const RECOVERY: Duration = Duration::from_secs(15);

impl<W: World> Player<W> {
    pub(super) fn issue(&mut self) -> Result {
        let name = format!("t{}", self.model().tokens.len());
        let Some(issued) = self.run(&format!("token create {name}"))? else { return Ok(()) };
        let secret = issued.stdout.trim();
        if !secret.is_empty() {
            let valid_since = (issued.code == Some(0)).then(Instant::now);
            self.model().tokens.push(Token::new(&name, secret, valid_since));
        }
        Ok(())
    }

    pub(super) fn revoke(&mut self) -> Result {
        let is_known = |token: &Token| token.valid_since.is_some() && token.revoke_begun.is_none();
        let newest = self.model().tokens.iter().rposition(is_known).filter(|at| *at > 0);
        let Some(at) = newest.filter(|_| self.is_intact()) else { return self.issue() };
        self.model().tokens[at].revoke_begun = Some(Instant::now());
        let name = self.model().tokens[at].name.clone();
        let revoked = self.run(&format!("token revoke {name}"))?;
        if revoked.is_some_and(|revoked| revoked.code == Some(0)) {
            self.model().tokens[at].revoked = Some(Instant::now());
        }
        Ok(())
    }

    /// Runs a command that reads the store, and judges what it has read.
    pub(super) fn read(&self, command: Step) -> Result {
        let folder = TempDir::new().expect("a temporary folder");
        let copy = format!("sqlite:{}", folder.path().join("copy.db").display());
        let store = self.world.folder().store();
        let before = self.model().stored.clone();
        let read = match command {
            Step::Check => self.run("check")?,
            Step::Export => self.run("export")?,
            _ => self.run(&format!("copy --from {store} --to {copy} --tokens none"))?,
        };
        let Some(read) = read else { return Ok(()) };
        match command {
            Step::Check if read.code == Some(1) => Err(format!("unsound: {}", read.stderr)),
            Step::Export if read.code == Some(0) => self.observe(&before, &read),
            Step::Copy if read.code == Some(0) => {
                self.observe(&before, &self.succeeds(&format!("export --store {copy}"))?)
            }
            _ => Ok(()),
        }
    }

    /// Whether every file is as the server left it.
    pub(super) fn is_intact(&self) -> bool {
        !self.model().in_force().into_iter().any(Fault::removes_a_file)
    }

    /// Runs a command, which may fail only while a fault is in force. Returns `None` if it was
    /// skipped.
    fn run(&self, words: &str) -> Result<Option<Ended>> {
        if !self.is_intact() {
            return self.skip(words).map(|()| None);
        }
        let begun = Instant::now();
        let output = operate(&self.world, words);
        let explains = |spell: &Spell| {
            let spares_commands = matches!(spell.fault, Fault::Slow | Fault::Reader);
            let until = spell.ended.map(|ended| ended + spell.fault.effect().lingers);
            !spares_commands && until.is_none_or(|until| begun <= until)
        };
        if output.code == Some(0) || self.model().spells.iter().any(explains) {
            return Ok(Some(output));
        }
        Err(format!("{words:?}: {output:?}"))
    }

    /// Runs a command that must succeed.
    fn succeeds(&self, words: &str) -> Result<Ended> {
        let output = operate(&self.world, words);
        if output.code == Some(0) { Ok(output) } else { Err(format!("{words:?}: {output:?}")) }
    }

    fn observe(&self, before: &Stored, export: &Ended) -> Result {
        let found = stored(&export.stdout)?;
        self.model().observe(before, &found)
    }

    /// Judges the store, while no fault is in force: every plant without a final answer gets one,
    /// the tokens and the content are as they must be, the store is sound, and no server accepts a
    /// revoked token.
    pub(super) fn judge_store(&mut self) -> Result {
        let unsettled = self.model().unsettled();
        for plant in unsettled.into_iter().chain([self.load.new_plant()]) {
            self.require_answer(plant, 0, &[Answer::Created, Answer::Conflict])?;
        }
        let listed = self.succeeds("token list --json")?;
        let listed: Vec<Value> = serde_json::from_str(&listed.stdout).expect("JSON");
        let names: Vec<_> =
            listed.iter().map(|token| token["name"].as_str().expect("a name").into()).collect();
        self.model().settle_tokens(&names, Instant::now())?;
        self.succeeds("check")?;
        let before = self.model().stored.clone();
        self.observe(&before, &self.succeeds("export")?)?;
        let tokens = self.model().tokens.clone();
        for (at, _) in tokens.iter().enumerate().filter(|(_, token)| token.revoked.is_some()) {
            self.require_answer(self.load.new_plant(), at, &[Answer::Unauthorized])?;
        }
        Ok(())
    }

    /// Sends a plant to each server until the answer is final. It must be one of these. Shortly
    /// after a fault the plant may be refused.
    fn require_answer(&mut self, plant: Plant, token: usize, expected: &[Answer]) -> Result {
        const FINAL: [Answer; 3] = [Answer::Created, Answer::Conflict, Answer::Unauthorized];
        let own = self.server.as_ref().map(|server| server.address);
        for address in own.into_iter().chain(self.world.second()) {
            let first = Instant::now();
            let answer = loop {
                let open = Connection::try_open(address).ok_or("no server listens")?;
                let (answer, _) = self.load.create(open, plant, token);
                if FINAL.contains(&answer) {
                    break answer;
                }
                if first.elapsed() > RECOVERY {
                    return Err(format!("still {answer:?} for {plant:?}"));
                }
                self.watch()?;
                sleep(PAUSE);
            };
            if !expected.contains(&answer) {
                return Err(format!("{answer:?} for {plant:?} and token {token}"));
            }
        }
        Ok(())
    }
}

/// Parses an export: each plant must be one that the clients send.
fn stored(export: &str) -> Result<Stored> {
    let mut stored = Stored::new();
    for line in export.lines() {
        let plant: NewPlant = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let found = serde_json::to_value(&plant).expect("JSON");
        let is_it = |variant: &u8| {
            let sent = body(Plant { id: plant.id, variant: *variant });
            serde_json::from_str::<Value>(&sent).expect("JSON") == found
        };
        let variant = (0..2).find(is_it).ok_or_else(|| format!("never sent: {line}"))?;
        if stored.last_key_value().is_some_and(|(last, _)| *last >= plant.id) {
            return Err("the export is not in the order of the ids".into());
        }
        stored.insert(plant.id, variant);
    }
    Ok(stored)
}
