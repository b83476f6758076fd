//! Histories that the model must reject: a model that accepts everything looks green. The scenes
//! show what it accepts.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use plant_store_tests::prelude::each_row;

use super::Answer::{Conflict, Created, Failed, Lost, Refused, Stale, Unauthorized, Wrong};
use super::{Answer, Attempt, Model, Plant, Spell, Stored, Token};
use crate::model::faults::Call::Sync;
use crate::model::faults::Fault::{
    self, BackendKilled, Fails, Hangs, Killed, NoSync, Renamed, Slow, Terminated,
};
use crate::model::faults::File::{Store, Wal};

const FICUS: Plant = Plant { id: 1, variant: 0 };
const FERN: Plant = Plant { id: 1, variant: 1 };

/// The beginning of all histories. Their times are in milliseconds.
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

fn at(time: u64) -> Instant {
    *START + Duration::from_millis(time)
}

/// A model with a token that is valid from the beginning.
fn model() -> Model {
    Model::new(Token::new("first", "", Some(at(0))), Duration::from_secs(5))
}

fn create(plant: Plant, answer: Answer, sent: u64, answered: u64) -> Attempt {
    Attempt { plant, token: 0, answer, begun: at(sent), ended: at(answered) }
}

fn stored(plants: &[Plant]) -> Stored {
    plants.iter().map(|plant| (plant.id, plant.variant)).collect()
}

/// Asserts that the model rejects creates, in the order of their answers, or the content of the
/// store after them.
fn assert_rejected(mut model: Model, attempts: &[Attempt], plants: &[Plant], why: &str) {
    for attempt in attempts {
        model.send(attempt.plant);
    }
    for attempt in attempts {
        model.answer(attempt);
    }
    let observed = model.observe(&model.stored, &stored(plants));
    let judged = model.failure.or(observed.err()).expect("it is rejected");
    assert!(judged.contains(why), "{judged}");
}

/// A fault that is fully in force from then on.
fn since(begun: u64, fault: Fault) -> Spell {
    Spell { complete: Some(at(begun)), ..Spell::new(fault, at(begun)) }
}

/// A fault that is over.
fn during(begun: u64, ended: u64, fault: Fault) -> Spell {
    Spell { ended: Some(at(ended)), ..Spell::new(fault, at(begun)) }
}

fn with(spell: Option<Spell>) -> Model {
    Model { spells: Vec::from_iter(spell), ..model() }
}

#[test]
fn impossible_answers_are_rejected() {
    let hang = Some(since(0, Hangs(Sync, Wal)));
    let earlier_hang = Some(during(0, 1000, Hangs(Sync, Wal)));
    let both = [FICUS, FERN].map(|plant| create(plant, Created, 10, 30));
    let renamed = Some(since(100, Renamed(Store)));
    // A fault, creates, and the reason.
    let rows = [
        (None, vec![create(FICUS, Unauthorized, 10, 20)], "token is valid"),
        (None, vec![create(FICUS, Refused, 5000, 5010)], "no fault"),
        (None, vec![create(FICUS, Created, 0, 6000)], "no answer after"),
        (None, vec![create(FICUS, Conflict, 10, 20)], "contradicts earlier"),
        (None, both.into(), "contradicts earlier"),
        (hang, vec![create(FICUS, Failed, 10, 20)], "no fault"),
        (hang, vec![create(FICUS, Lost, 10, 20)], "no fault"),
        (earlier_hang, vec![create(FICUS, Refused, 5000, 5010)], "no fault"),
        (Some(since(0, Slow)), vec![create(FICUS, Refused, 5000, 5010)], "no fault"),
        (Some(since(0, Fails(Sync, Wal))), vec![create(FICUS, Wrong, 10, 20)], "is wrong"),
        // A restart of the database must be waited out.
        (Some(during(100, 100, BackendKilled)), vec![create(FICUS, Refused, 90, 110)], "no fault"),
        (renamed, vec![create(FICUS, Created, 110, 120)], "must prevent it"),
        (Some(since(0, NoSync)), vec![create(FICUS, Created, 4000, 4010)], "must prevent it"),
    ];
    each_row(rows, |(spell, attempts, why)| {
        assert_rejected(with(spell), &attempts, &[], why);
    });
}

#[test]
fn impossible_contents_are_rejected() {
    assert_rejected(model(), &[create(FICUS, Created, 10, 20)], &[], "None is stored");
    assert_rejected(model(), &[create(FICUS, Created, 10, 20)], &[FERN], "Some(1) is stored");
    assert_rejected(model(), &[], &[FICUS], "was never accepted");
    // A fault, a create, and the plant that is stored then.
    let rows = [
        (None, create(FICUS, Stale, 10, 20), FICUS),
        (Some(since(0, Fails(Sync, Wal))), create(FICUS, Failed, 10, 20), FERN),
        (Some(since(20, Killed)), create(FICUS, Lost, 10, 30), FERN),
        // A stop must answer what it commits.
        (Some(since(20, Terminated)), create(FICUS, Lost, 10, 30), FICUS),
    ];
    each_row(rows, |(spell, attempt, stored)| {
        assert_rejected(with(spell), &[attempt], &[stored], "was never accepted");
    });
}

#[test]
fn revoked_or_unknown_token_must_not_create() {
    let mut revoked = model();
    revoked.tokens[0].revoked = Some(at(2200));
    assert_rejected(revoked, &[create(FICUS, Created, 2300, 2310)], &[FICUS], "was revoked");
    let mut unknown = model();
    unknown.tokens[0].valid_since = None;
    let unauthorized = create(FICUS, Unauthorized, 10, 20);
    assert_rejected(unknown, &[unauthorized], &[FICUS], "was never accepted");
}

#[test]
fn export_must_contain_what_was_acknowledged_before() {
    let mut model = model();
    let before = model.stored.clone();
    model.send(FICUS);
    model.answer(&create(FICUS, Created, 10, 20));
    assert_eq!(model.observe(&before, &stored(&[])), Ok(()));
    assert!(model.observe(&model.stored, &stored(&[])).is_err());
    model.send(FERN);
    assert!(model.observe(&before, &stored(&[FERN])).is_err());
}

/// The change of a command that failed is known after the lease.
#[test]
fn restart_must_keep_tokens_and_revocations() {
    assert!(model().settle_tokens(&[], at(10)).is_err());
    let mut model = model();
    model.tokens[0].revoke_begun = Some(at(5));
    assert_eq!(model.settle_tokens(&["first".into()], at(10)), Ok(()));
    model.tokens[0].revoke_begun = Some(at(15));
    assert_eq!(model.settle_tokens(&[], at(20)), Ok(()));
    assert!(model.settle_tokens(&["first".into()], at(30)).is_err());
    assert_rejected(model, &[create(FICUS, Created, 2030, 2040)], &[FICUS], "was revoked");
}
