//! The commands of operators, under load.

use std::time::Instant;

use plant_store_tests::process::Ended;

use super::Player;
use super::store::stored;
use crate::model::clients::Clients;
use crate::model::faults::Fault;
use crate::model::rules::{Result, Token};
use crate::model::steps::Command;
use crate::model::world::World;

impl<W: World> Player<W> {
    pub(super) fn issue(&mut self) -> Result {
        if !self.is_intact() {
            return Ok(());
        }
        let name = format!("t{}", self.model.tokens.len());
        let begun = Instant::now();
        let issued = self.world.run(&["token", "create", &name]);
        self.judge_command(&issued, begun)?;
        let secret = issued.stdout.trim().to_owned();
        if secret.is_empty() {
            return Ok(());
        }
        let valid_since = (issued.code == Some(0)).then(Instant::now);
        let token =
            Token { name, secret: secret.clone(), valid_since, revoke_begun: None, revoked: None };
        self.model.tokens.push(token);
        self.clients.iter().for_each(|clients| clients.issue(secret.clone()));
        Ok(())
    }

    pub(super) fn revoke(&mut self) -> Result {
        if !self.is_intact() {
            return Ok(());
        }
        let is_known = |token: &Token| token.valid_since.is_some() && token.revoke_begun.is_none();
        let newest = self.model.tokens.iter().rposition(is_known).filter(|at| *at > 0);
        let Some(at) = newest else { return self.issue() };
        let begun = Instant::now();
        self.model.tokens[at].revoke_begun = Some(begun);
        let name = self.model.tokens[at].name.clone();
        let revoked = self.world.run(&["token", "revoke", &name]);
        if revoked.code == Some(0) {
            self.model.tokens[at].revoked = Some(Instant::now());
        }
        self.judge_command(&revoked, begun)
    }

    /// Whether every file is as the server left it. Otherwise a command may read, or leave behind,
    /// something else.
    fn is_intact(&self) -> bool {
        !self.model.in_force().any(Fault::loses_changes)
    }

    /// A command may fail only while a fault is in force.
    fn judge_command(&self, output: &Ended, begun: Instant) -> Result {
        let is_hit = self.model.spells.iter().any(|spell| {
            let effect = spell.fault.effect();
            effect.fails_commands && spell.ended.is_none_or(|ended| begun <= ended + effect.lingers)
        });
        if output.code == Some(0) || is_hit {
            return Ok(());
        }
        Err(format!("{output:?}"))
    }

    /// Runs a command that must succeed.
    pub(super) fn succeeds(&self, words: &[&str]) -> Result<Ended> {
        let output = self.world.run(words);
        if output.code == Some(0) {
            return Ok(output);
        }
        Err(format!("{words:?}: {output:?}"))
    }

    pub(super) fn operate(&mut self, command: Command) -> Result {
        if !self.is_intact() {
            return Ok(());
        }
        let begun = Instant::now();
        self.copies += 1;
        let copy = format!("sqlite:copy-{}.db", self.copies);
        let copied =
            ["copy", "--from", &self.world.process().store, "--to", &copy, "--tokens", "none"];
        let words: &[&str] = match command {
            Command::Check => &["check"],
            Command::Export => &["export"],
            Command::Copy => &copied,
        };
        let done = self.world.run(words);
        let ended = Instant::now();
        self.judge_command(&done, begun)?;
        if command == Command::Check && done.code == Some(1) {
            return Err(format!("unsound: {}", done.stderr));
        }
        if done.code != Some(0) || command == Command::Check {
            return Ok(());
        }
        let stored = match command {
            Command::Copy => stored(&self.succeeds(&["export", "--store", &copy])?)?,
            _ => stored(&done)?,
        };
        let mut attempts = self.attempts.clone();
        attempts.extend(self.clients.as_ref().map(Clients::attempts).unwrap_or_default());
        self.model.observe(&attempts, &stored, begun, ended)
    }
}
