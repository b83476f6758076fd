//! What the store may contain and which answers are allowed, given all requests so far. No I/O, and
//! no clock: every time is that of an event.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use super::faults::Fault;

/// How long a server may use the tokens that it has read.
const LEASE: Duration = Duration::from_secs(2);

/// Plants with the same id differ by their variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Plant {
    pub id: i64,
    pub variant: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Answer {
    /// 200 with the plant that was sent.
    Created,
    /// Error 409.
    Conflict,
    /// Error 401.
    Unauthorized,
    /// Error 500.
    Failed,
    /// Error 503 or 408.
    Refused,
    /// The connection ended, or could not be made.
    Lost,
    /// Another error, or another plant than the one that was sent.
    Wrong,
}
use Answer::{Conflict, Created, Failed, Lost, Refused, Unauthorized, Wrong};

/// A create that was sent, and its answer.
#[derive(Clone, Copy, Debug)]
pub struct Attempt {
    pub plant: Plant,
    /// The index of the token.
    pub token: usize,
    pub answer: Answer,
    /// When it was sent.
    pub begun: Instant,
    pub ended: Instant,
}

/// A fault, and when it was in force.
#[derive(Clone, Copy, Debug)]
pub struct Spell {
    pub fault: Fault,
    pub begun: Instant,
    /// When it was fully in force, if it came so far.
    pub complete: Option<Instant>,
    /// When its end was begun.
    pub ending: Option<Instant>,
    /// `None` while it is in force.
    pub ended: Option<Instant>,
}

impl Spell {
    fn overlaps(&self, attempt: &Attempt, lingers: Duration) -> bool {
        self.begun <= attempt.ended
            && self.ended.is_none_or(|ended| attempt.begun <= ended + lingers)
    }

    fn explains(&self, attempt: &Attempt) -> bool {
        let effect = self.fault.effect();
        effect.answers.contains(&attempt.answer)
            && self.begun + effect.after <= attempt.ended
            && self.overlaps(attempt, effect.lingers)
    }

    /// Whether no create of that time can have succeeded.
    fn denies(&self, begun: Instant, ended: Instant) -> bool {
        let since = self.complete.zip(self.fault.effect().denies).map(|(at, after)| at + after);
        since.is_some_and(|since| since < begun)
            && self.ending.or(self.ended).is_none_or(|end| ended < end)
    }
}

/// What is known about a token. Each time is that of a command's begin or return.
#[derive(Clone, Debug)]
pub struct Token {
    pub name: String,
    pub secret: String,
    pub valid_since: Option<Instant>,
    pub revoke_begun: Option<Instant>,
    pub revoked: Option<Instant>,
}

impl Token {
    /// Whether it was valid from `begun` to `ended`.
    fn is_valid(&self, begun: Instant, ended: Instant) -> bool {
        self.valid_since.is_some_and(|since| since < begun)
            && self.revoke_begun.is_none_or(|revoke| ended < revoke)
    }

    fn is_revoked(&self, at: Instant) -> bool {
        self.revoked.is_some_and(|revoked| revoked < at)
    }
}

/// The plants that may be stored under an id. `None` is "none".
type Worlds = BTreeSet<Option<u8>>;

/// The content of a store, as it was read: the variant of each id.
pub type Stored = BTreeMap<i64, u8>;

/// Why something is not allowed.
pub type Result<T = ()> = std::result::Result<T, String>;

#[derive(Clone)]
pub struct Model {
    /// What may be stored, as far as it was settled.
    ids: BTreeMap<i64, Worlds>,
    pub tokens: Vec<Token>,
    pub spells: Vec<Spell>,
    pub deadline: Duration,
}

impl Model {
    /// A model of an empty store with one token. `deadline` is the longest that an answer may take.
    pub fn new(first: Token, deadline: Duration) -> Self {
        Self { ids: BTreeMap::new(), tokens: vec![first], spells: Vec::new(), deadline }
    }

    /// Returns the faults in force.
    pub fn in_force(&self) -> impl Iterator<Item = Fault> {
        self.spells.iter().filter(|spell| spell.ended.is_none()).map(|spell| spell.fault)
    }

    /// Judges each answer by itself.
    pub fn judge(&self, attempts: &[Attempt]) -> Result {
        for attempt in attempts {
            self.judge_one(attempt).map_err(|why| format!("{why}: {attempt:?}"))?;
        }
        Ok(())
    }

    fn judge_one(&self, attempt: &Attempt) -> Result {
        let Attempt { answer, begun, ended, .. } = *attempt;
        let token = &self.tokens[attempt.token];
        self.judge_wait(begun, ended)?;
        match answer {
            Created | Conflict if token.is_revoked(begun) => {
                Err("its token was revoked before".into())
            }
            Created | Conflict if self.spells.iter().any(|spell| spell.denies(begun, ended)) => {
                Err("a fault must prevent it".into())
            }
            Unauthorized if token.is_valid(begun, ended) => Err("its token is valid".into()),
            Created | Conflict | Unauthorized => Ok(()),
            Wrong => Err("the answer is wrong".into()),
            Failed | Refused | Lost => {
                let is_explained = self.spells.iter().any(|spell| spell.explains(attempt));
                if is_explained { Ok(()) } else { Err("no fault explains it".into()) }
            }
        }
    }

    /// Judges a wait for an answer, which may still last at `now`.
    pub fn judge_wait(&self, begun: Instant, now: Instant) -> Result {
        let waited = now.saturating_duration_since(begun);
        let is_paused = |spell: &Spell| {
            matches!(spell.fault, Fault::Paused | Fault::Terminated)
                && spell.begun <= now
                && spell.ended.is_none_or(|ended| begun <= ended)
        };
        if waited > self.deadline && !self.spells.iter().any(is_paused) {
            return Err(format!("no answer after {waited:.1?}"));
        }
        Ok(())
    }

    /// Whether the plant may be stored because of this attempt.
    fn may_store(&self, attempt: &Attempt) -> bool {
        // A server that is stopped without another fault answers whatever it commits.
        let mut spells = self.spells.iter().filter(|spell| spell.overlaps(attempt, Duration::ZERO));
        let is_stopped = attempt.answer == Lost
            && spells.all(|spell| spell.fault == Fault::Terminated || spell.fault.is_harmless());
        let is_revoked = self.tokens[attempt.token].is_revoked(attempt.begun);
        attempt.answer != Unauthorized && !is_stopped && !is_revoked
    }

    /// Applies, in the order of time, the requests that were sent before `until`, and the answers
    /// that arrived before `known`.
    fn replay(&mut self, attempts: &[Attempt], known: Instant, until: Instant) -> Result {
        let sent = attempts.iter().map(|attempt| (attempt.begun, false, attempt));
        let answered = attempts.iter().map(|attempt| (attempt.ended, true, attempt));
        let mut events: Vec<_> = sent
            .filter(|(time, ..)| *time <= until)
            .chain(answered.filter(|(time, ..)| *time <= known))
            .collect();
        events.sort_by_key(|(time, is_answer, _)| (*time, *is_answer));
        for (_, is_answer, attempt) in events {
            let Plant { id, variant } = attempt.plant;
            let may_store = self.may_store(attempt);
            let worlds = self.ids.entry(id).or_insert_with(|| Worlds::from([None]));
            let same = Some(variant);
            match (is_answer, attempt.answer) {
                (false, _) if may_store && worlds.contains(&None) => {
                    worlds.insert(same);
                }
                (true, Created) => worlds.retain(|world| *world == same),
                (true, Conflict) => worlds.retain(|world| world.is_some() && *world != same),
                _ => {}
            }
            if worlds.is_empty() {
                return Err(format!("it contradicts earlier answers: {attempt:?}"));
            }
        }
        Ok(())
    }

    /// Judges the content of a store that was read between `begun` and `ended`.
    pub fn observe(
        &self,
        attempts: &[Attempt],
        stored: &Stored,
        begun: Instant,
        ended: Instant,
    ) -> Result {
        let mut then = self.clone();
        then.replay(attempts, begun, ended)?;
        then.agree(stored)
    }

    fn agree(&self, stored: &Stored) -> Result {
        if let Some(id) = stored.keys().find(|id| !self.ids.contains_key(id)) {
            return Err(format!("{id} is stored, but was never sent"));
        }
        for (id, worlds) in &self.ids {
            let found = stored.get(id).copied();
            if !worlds.contains(&found) {
                return Err(format!("{id}: {found:?} is stored, possible: {worlds:?}"));
            }
        }
        Ok(())
    }

    /// Adds all attempts of a process that has ended, and the content of the store after it. From
    /// now on no other content is possible.
    pub fn settle(&mut self, attempts: &[Attempt], stored: &Stored) -> Result {
        self.add(attempts)?;
        self.agree(stored)?;
        for (id, worlds) in &mut self.ids {
            *worlds = Worlds::from([stored.get(id).copied()]);
        }
        Ok(())
    }

    /// Adds attempts that were all answered or lost.
    pub fn add(&mut self, attempts: &[Attempt]) -> Result {
        self.judge(attempts)?;
        let Some(last) = attempts.iter().map(|attempt| attempt.ended).max() else { return Ok(()) };
        self.replay(attempts, last, last)
    }

    /// Adds the names of the tokens that were read at `now`, while no command changed them. A
    /// command that failed has not waited until every server knew its change.
    pub fn settle_tokens(&mut self, listed: &[String], now: Instant) -> Result {
        let known = now + LEASE;
        for token in &mut self.tokens {
            let is_listed = listed.contains(&token.name);
            if !is_listed && token.is_valid(now, now) {
                return Err(format!("the token {} is lost", token.name));
            }
            if is_listed && token.revoked.is_some() {
                return Err(format!("the revoked token {} is back", token.name));
            }
            if is_listed {
                token.valid_since.get_or_insert(known);
                token.revoke_begun = None;
            } else {
                token.revoke_begun.get_or_insert(now);
                token.revoked.get_or_insert(known);
            }
        }
        Ok(())
    }
}

mod tests;
