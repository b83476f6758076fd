//! What the store may contain and which answers are allowed, given all requests so far. The model
//! learns of each create before it is sent, and of each answer when it has arrived. No I/O, and no
//! clock: every time is that of an event.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::faults::Fault;

/// How long a server may use the tokens that it has read.
const LEASE: Duration = Duration::from_secs(2);

/// A plant has one of two variants, so a 409 for one of them shows that the other one is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Plant {
    pub id: i64,
    /// 0 or 1.
    pub variant: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// 200 with the plant that was sent.
    Created,
    /// Error 409.
    Conflict,
    /// Error 401.
    Unauthorized,
    /// Error 503, because the lease of the tokens has expired. A busy machine is enough for that,
    /// and a lease that is never renewed is noticed when no create gets another answer any more.
    Stale,
    /// Error 500.
    Failed,
    /// Error 408, or any other 503.
    Refused,
    /// The connection ended.
    Lost,
    /// Another error, or another plant than the one that was sent.
    Wrong,
}
use Answer::{Conflict, Created, Failed, Lost, Refused, Stale, Unauthorized, Wrong};

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
    /// Since when it is fully in force: a failing sync, since one has failed. `None` before that,
    /// and once its end has begun.
    pub complete: Option<Instant>,
    /// `None` while it is in force.
    pub ended: Option<Instant>,
    /// Whether it has met the service, as far as the player or an answer has shown.
    pub has_met: bool,
}

impl Spell {
    pub fn new(fault: Fault, begun: Instant) -> Self {
        Self { fault, begun, complete: None, ended: None, has_met: false }
    }

    /// Whether the process has to end by itself within seconds.
    pub fn must_end(&self) -> bool {
        let effect = self.fault.effect();
        self.complete.is_some() && effect.denies.is_some() && !effect.exits.is_empty()
    }

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

    /// Whether only answers show that the fault has met the service, and this one does. Until the
    /// fault denies creates, an earlier fault may have caused the answer.
    fn is_shown_by(&self, attempt: &Attempt) -> bool {
        self.fault.is_shown_by_answers()
            && match self.fault.effect().denies {
                Some(_) => matches!(attempt.answer, Refused | Stale) && self.denies(attempt.begun),
                None => self.explains(attempt),
            }
    }

    /// Whether no create that was sent at that time can have succeeded.
    fn denies(&self, begun: Instant) -> bool {
        let since = self.complete.zip(self.fault.effect().denies).map(|(at, after)| at + after);
        since.is_some_and(|since| since < begun)
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
    pub fn new(name: &str, secret: &str, valid_since: Option<Instant>) -> Self {
        let (name, secret) = (name.to_owned(), secret.to_owned());
        Self { name, secret, valid_since, revoke_begun: None, revoked: None }
    }

    /// Whether it was valid from `begun` to `ended`.
    fn is_valid(&self, begun: Instant, ended: Instant) -> bool {
        self.valid_since.is_some_and(|since| since < begun)
            && self.revoke_begun.is_none_or(|revoke| ended < revoke)
    }

    fn is_revoked(&self, at: Instant) -> bool {
        self.revoked.is_some_and(|revoked| revoked < at)
    }
}

/// The content of a store: the variant of each id.
pub type Stored = BTreeMap<i64, u8>;

/// Why something is not allowed.
pub type Result<T = ()> = std::result::Result<T, String>;

#[derive(Default)]
pub struct Model {
    /// How many creates may have stored each plant, or still may.
    sent: BTreeMap<Plant, usize>,
    /// What is stored, according to the answers.
    pub stored: Stored,
    pub tokens: Vec<Token>,
    pub spells: Vec<Spell>,
    /// The longest that an answer may take.
    deadline: Duration,
    /// The number of answers, except [`Answer::Stale`].
    pub answers: usize,
    /// Why the first wrong answer is not allowed.
    pub failure: Option<String>,
}

impl Model {
    /// A model of an empty store with one token.
    pub fn new(first: Token, deadline: Duration) -> Self {
        Self { tokens: vec![first], deadline, ..Self::default() }
    }

    /// Returns the faults in force.
    pub fn in_force(&self) -> Vec<Fault> {
        let spells = self.spells.iter().filter(|spell| spell.ended.is_none());
        spells.map(|spell| spell.fault).collect()
    }

    /// Returns the spell of a fault in force.
    pub fn spell(&mut self, fault: Fault) -> Option<&mut Spell> {
        self.spells.iter_mut().find(|spell| spell.fault == fault && spell.ended.is_none())
    }

    /// Adds a create that is sent now.
    pub fn send(&mut self, plant: Plant) {
        *self.sent.entry(plant).or_default() += 1;
    }

    /// Adds and judges the answer to a create that was sent.
    pub fn answer(&mut self, attempt: &Attempt) {
        self.answers += usize::from(attempt.answer != Stale);
        let judged = self.judge(attempt).and_then(|()| self.learn(attempt));
        if let Err(why) = judged {
            self.failure.get_or_insert(format!("{why}: {attempt:?}"));
        }
    }

    fn judge(&mut self, attempt: &Attempt) -> Result {
        let Attempt { answer, begun, ended, .. } = *attempt;
        let token = &self.tokens[attempt.token];
        let waited = ended - begun;
        let is_paused = |spell: &Spell| {
            let pauses = matches!(spell.fault, Fault::Paused | Fault::Terminated);
            pauses && spell.overlaps(attempt, Duration::ZERO)
        };
        if waited > self.deadline && !self.spells.iter().any(is_paused) {
            return Err(format!("no answer after {waited:.1?}"));
        }
        for spell in &mut self.spells {
            spell.has_met |= spell.is_shown_by(attempt);
        }
        match answer {
            Created | Conflict if token.is_revoked(begun) => {
                Err("its token was revoked before".into())
            }
            Created | Conflict if self.spells.iter().any(|spell| spell.denies(begun)) => {
                Err("a fault must prevent it".into())
            }
            Unauthorized if token.is_valid(begun, ended) => Err("its token is valid".into()),
            Created | Conflict | Unauthorized | Stale => Ok(()),
            Wrong => Err("the answer is wrong".into()),
            Failed | Refused | Lost => {
                let is_explained = self.spells.iter().any(|spell| spell.explains(attempt));
                if is_explained { Ok(()) } else { Err("no fault explains it".into()) }
            }
        }
    }

    fn learn(&mut self, attempt: &Attempt) -> Result {
        let Plant { id, variant } = attempt.plant;
        match attempt.answer {
            Created => self.store(Plant { id, variant }),
            Conflict => self.store(Plant { id, variant: 1 - variant }),
            _ if self.may_have_stored(attempt) => Ok(()),
            _ => {
                self.sent.entry(attempt.plant).and_modify(|count| *count -= 1);
                Ok(())
            }
        }
    }

    fn store(&mut self, plant: Plant) -> Result {
        let known = *self.stored.entry(plant.id).or_insert(plant.variant);
        if known == plant.variant && self.may_be_stored(plant) {
            return Ok(());
        }
        Err("it contradicts earlier answers".into())
    }

    /// Whether a create without a final answer may have stored its plant.
    fn may_have_stored(&self, attempt: &Attempt) -> bool {
        // A server that is stopped without another fault answers whatever it commits.
        let mut spells = self.spells.iter().filter(|spell| spell.overlaps(attempt, Duration::ZERO));
        let is_stopped = attempt.answer == Lost
            && spells.all(|spell| {
                spell.fault == Fault::Terminated || spell.fault.effect().answers.is_empty()
            });
        let is_revoked = self.tokens[attempt.token].is_revoked(attempt.begun);
        !matches!(attempt.answer, Unauthorized | Stale) && !is_stopped && !is_revoked
    }

    fn may_be_stored(&self, plant: Plant) -> bool {
        self.sent.get(&plant).is_some_and(|count| *count > 0)
    }

    /// Returns the plants that may be stored, and whose ids no answer has settled.
    pub fn unsettled(&self) -> Vec<Plant> {
        let is_unsettled =
            |plant: &&Plant| self.may_be_stored(**plant) && !self.stored.contains_key(&plant.id);
        self.sent.keys().filter(is_unsettled).copied().collect()
    }

    /// Judges the content of a store that was just read. `before` is what had to be stored when the
    /// read began.
    pub fn observe(&self, before: &Stored, found: &Stored) -> Result {
        for (id, variant) in before {
            if found.get(id) != Some(variant) {
                return Err(format!("{id}: {:?} is stored, not {variant}", found.get(id)));
            }
        }
        for (&id, &variant) in found {
            if !self.may_be_stored(Plant { id, variant }) {
                return Err(format!("{id}: {variant} is stored, but was never accepted"));
            }
            if self.stored.get(&id).is_some_and(|known| *known != variant) {
                return Err(format!("{id}: {variant} is stored, which contradicts an answer"));
            }
        }
        Ok(())
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
