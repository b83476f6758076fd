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

/// A fault with its begin and its end, creates, what is stored then, and why the model rejects
/// that.
type History = (
    Option<(Fault, u64, Option<u64>)>,
    &'static [(Plant, Answer, u64, u64)],
    &'static [Plant],
    &'static str,
);

const HANG: Option<(Fault, u64, Option<u64>)> = Some((Hangs(Sync, Wal), 0, None));
const FAILS: Option<(Fault, u64, Option<u64>)> = Some((Fails(Sync, Wal), 0, None));

const HISTORIES: [History; 20] = [
    (None, &[(FICUS, Created, 10, 20)], &[], "None is stored"),
    (None, &[(FICUS, Created, 10, 20)], &[FERN], "Some(1) is stored"),
    (None, &[], &[FICUS], "was never accepted"),
    (None, &[(FICUS, Created, 10, 30), (FERN, Created, 10, 30)], &[FICUS], "contradicts earlier"),
    (None, &[(FICUS, Conflict, 10, 20)], &[], "contradicts earlier"),
    (None, &[(FICUS, Unauthorized, 10, 20)], &[], "token is valid"),
    (None, &[(FICUS, Refused, 5000, 5010)], &[], "no fault"),
    (None, &[(FICUS, Stale, 10, 20)], &[FICUS], "was never accepted"),
    (None, &[(FICUS, Created, 0, 6000)], &[FICUS], "no answer after"),
    (Some((Hangs(Sync, Wal), 0, Some(1000))), &[(FICUS, Refused, 5000, 5010)], &[], "no fault"),
    (HANG, &[(FICUS, Failed, 10, 20)], &[], "no fault"),
    (HANG, &[(FICUS, Lost, 10, 20)], &[], "no fault"),
    (Some((Slow, 0, None)), &[(FICUS, Refused, 5000, 5010)], &[], "no fault"),
    (FAILS, &[(FICUS, Failed, 10, 20)], &[FERN], "was never accepted"),
    (FAILS, &[(FICUS, Wrong, 10, 20)], &[FICUS], "is wrong"),
    // A restart of the database must be waited out.
    (Some((BackendKilled, 100, Some(100))), &[(FICUS, Refused, 90, 110)], &[], "no fault"),
    (Some((Renamed(Store), 100, None)), &[(FICUS, Created, 110, 120)], &[FICUS], "must prevent it"),
    (Some((NoSync, 0, None)), &[(FICUS, Created, 4000, 4010)], &[FICUS], "must prevent it"),
    // A stop must answer what it commits.
    (Some((Terminated, 20, None)), &[(FICUS, Lost, 10, 30)], &[FICUS], "was never accepted"),
    (Some((Killed, 20, None)), &[(FICUS, Lost, 10, 30)], &[FERN], "was never accepted"),
];

#[test]
fn impossible_histories_are_rejected() {
    each_row(HISTORIES, |(fault, creates, plants, why)| {
        let mut model = model();
        model.spells = Vec::from_iter(fault.map(|(fault, begun, ended)| Spell {
            complete: ended.is_none().then_some(at(begun)),
            ended: ended.map(at),
            ..Spell::new(fault, at(begun))
        }));
        let attempt =
            |(plant, answer, sent, answered): &_| create(*plant, *answer, *sent, *answered);
        let attempts: Vec<_> = creates.iter().map(attempt).collect();
        assert_rejected(model, &attempts, plants, why);
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
