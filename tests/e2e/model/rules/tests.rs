//! Histories that the model must reject, and some that it must accept: a model that accepts
//! everything looks green.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use plant_store_tests::prelude::each_row;

use super::Answer::{Conflict, Created, Failed, Lost, Refused, Unauthorized, Wrong};
use super::{Answer, Attempt, Model, Plant, Spell, Stored, Token};
use crate::model::faults::Fault::{
    self, BackendKilled, Killed, NoSync, Paused, Renamed, Slow, Stalled, SyncFails, SyncHangs,
    Terminated,
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
    let first = Token {
        name: "first".into(),
        secret: String::new(),
        valid_since: Some(at(0)),
        revoke_begun: None,
        revoked: None,
    };
    Model::new(first, Duration::from_secs(5))
}

/// A fault, its begin and its end. Without an end, it is still in force.
fn spell((fault, begun, ended): (Fault, u64, Option<u64>)) -> Spell {
    let ended = ended.map(at);
    Spell { fault, begun: at(begun), complete: Some(at(begun)), ending: ended, ended }
}

fn create(plant: Plant, answer: Answer, sent: u64, answered: u64) -> Attempt {
    Attempt { plant, token: 0, answer, begun: at(sent), ended: at(answered) }
}

fn stored(plants: &[Plant]) -> Stored {
    plants.iter().map(|plant| (plant.id, plant.variant)).collect()
}

/// Asserts that the model accepts the history, or rejects it for the reason.
fn assert_judged(mut model: Model, attempts: &[Attempt], plants: &[Plant], why: &str) {
    let judged = model.settle(attempts, &stored(plants)).err().unwrap_or_default();
    assert!(judged.contains(why) && judged.is_empty() == why.is_empty(), "{judged}");
}

/// A fault, creates, what is stored then, and why the model rejects that. It must accept a history
/// without a reason.
type History = (
    Option<(Fault, u64, Option<u64>)>,
    &'static [(Plant, Answer, u64, u64)],
    &'static [Plant],
    &'static str,
);

const HANG: Option<(Fault, u64, Option<u64>)> = Some((SyncHangs(Wal), 0, None));
const STALL: Option<(Fault, u64, Option<u64>)> = Some((Stalled, 0, Some(1000)));

const HISTORIES: [History; 29] = [
    (None, &[(FICUS, Created, 10, 20)], &[FICUS], ""),
    (None, &[(FICUS, Created, 10, 20)], &[], "None is stored"),
    (None, &[(FICUS, Created, 10, 20)], &[FERN], "Some(1) is stored"),
    (None, &[], &[FICUS], "was never sent"),
    (None, &[(FICUS, Created, 10, 30), (FERN, Created, 10, 30)], &[FICUS], "contradicts earlier"),
    (None, &[(FICUS, Created, 10, 30), (FERN, Conflict, 10, 30)], &[FICUS], ""),
    (None, &[(FICUS, Conflict, 10, 20)], &[], "contradicts earlier"),
    (None, &[(FICUS, Conflict, 10, 20), (FERN, Created, 30, 40)], &[FERN], "contradicts earlier"),
    (None, &[(FICUS, Unauthorized, 10, 20)], &[], "token is valid"),
    (None, &[(FICUS, Refused, 5000, 5010)], &[], "no fault"),
    (None, &[(FICUS, Created, 0, 6000)], &[FICUS], "no answer after"),
    (Some((Paused, 1000, Some(5900))), &[(FICUS, Created, 0, 6000)], &[FICUS], ""),
    (Some((SyncHangs(Wal), 0, Some(1000))), &[(FICUS, Refused, 5000, 5010)], &[], "no fault"),
    (HANG, &[(FICUS, Refused, 5000, 5010)], &[FICUS], ""),
    (HANG, &[(FICUS, Failed, 10, 20)], &[], "no fault"),
    (HANG, &[(FICUS, Lost, 10, 20)], &[], "no fault"),
    (Some((Slow, 0, None)), &[(FICUS, Refused, 5000, 5010)], &[], "no fault"),
    (STALL, &[(FICUS, Refused, 1500, 1510)], &[], ""),
    (STALL, &[(FICUS, Lost, 1500, 1510)], &[], "no fault"),
    (STALL, &[(FICUS, Created, 1500, 1510)], &[], "None is stored"),
    // A restart of the database must be waited out.
    (Some((BackendKilled, 100, Some(100))), &[(FICUS, Refused, 90, 110)], &[], "no fault"),
    (Some((BackendKilled, 100, Some(100))), &[(FICUS, Refused, 90, 5000)], &[], ""),
    (Some((Renamed(Store), 100, None)), &[(FICUS, Created, 110, 120)], &[FICUS], "must prevent it"),
    (Some((Renamed(Store), 100, None)), &[(FICUS, Created, 90, 120)], &[FICUS], ""),
    (Some((NoSync, 0, Some(9000))), &[(FICUS, Created, 4000, 4010)], &[FICUS], "must prevent it"),
    (Some((NoSync, 0, Some(9000))), &[(FICUS, Created, 1000, 1010)], &[FICUS], ""),
    // A stop must answer what it commits.
    (Some((Terminated, 20, None)), &[(FICUS, Lost, 10, 30)], &[FICUS], "Some(0) is stored"),
    (Some((Killed, 20, None)), &[(FICUS, Lost, 10, 30)], &[FICUS], ""),
    (Some((SyncFails(Wal), 0, None)), &[(FICUS, Wrong, 10, 20)], &[FICUS], "is wrong"),
];

#[test]
fn histories_are_judged_by_their_answers_and_faults() {
    each_row(HISTORIES, |(fault, creates, plants, why)| {
        let model = Model { spells: fault.into_iter().map(spell).collect(), ..model() };
        let attempt =
            |(plant, answer, sent, answered): &_| create(*plant, *answer, *sent, *answered);
        let attempts: Vec<_> = creates.iter().map(attempt).collect();
        assert_judged(model, &attempts, plants, why);
    });
}

#[test]
fn settled_plant_must_stay() {
    let mut model = model();
    model.spells.push(spell((SyncFails(Wal), 5, None)));
    let unknown = create(FICUS, Failed, 10, 20);
    assert_eq!(model.settle(&[unknown], &stored(&[FICUS])), Ok(()));
    assert_judged(model, &[], &[], "None is stored");
}

#[test]
fn revoked_or_unknown_token_must_not_create() {
    let mut model = model();
    model.tokens[0].revoke_begun = Some(at(100));
    model.tokens[0].revoked = Some(at(2200));
    let unknown = Token { valid_since: None, ..model.tokens[0].clone() };
    model.tokens.push(unknown);
    let judge = |attempt, plants: &[Plant], why| {
        assert_judged(model.clone(), &[attempt], plants, why);
    };
    judge(create(FICUS, Created, 2300, 2310), &[FICUS], "was revoked");
    judge(create(FICUS, Created, 2100, 2300), &[FICUS], "");
    judge(create(FICUS, Unauthorized, 150, 160), &[], "");
    let unauthorized = Attempt { token: 1, ..create(FICUS, Unauthorized, 10, 20) };
    judge(unauthorized, &[FICUS], "Some(0) is stored");
}

#[test]
fn export_must_contain_what_was_acknowledged_before() {
    let [before, meanwhile] = [10, 110].map(|sent| create(FICUS, Created, sent, sent + 10));
    let export =
        |attempt, found: &[Plant]| model().observe(&[attempt], &stored(found), at(100), at(150));
    assert!(export(before, &[]).is_err());
    assert_eq!(export(meanwhile, &[]), Ok(()));
    assert_eq!(export(meanwhile, &[FICUS]), Ok(()));
    let after = create(FICUS, Created, 200, 210);
    assert!(export(after, &[FICUS]).is_err());
}

#[test]
fn change_of_a_failed_command_is_known_after_the_lease() {
    let mut model = model();
    let unknown = Token { valid_since: None, name: "second".into(), ..model.tokens[0].clone() };
    model.tokens.push(unknown);
    model.tokens[0].revoke_begun = Some(at(5));
    assert_eq!(model.settle_tokens(&["second".into()], at(10)), Ok(()));
    let refused = |sent| Attempt { token: 1, ..create(FICUS, Unauthorized, sent, sent + 10) };
    assert_judged(model.clone(), &[refused(1000)], &[], "");
    assert_judged(model.clone(), &[refused(2020)], &[], "its token is valid");
    assert_judged(model.clone(), &[create(FICUS, Created, 1000, 1010)], &[FICUS], "");
    assert_judged(model, &[create(FICUS, Created, 2020, 2030)], &[FICUS], "was revoked");
}

#[test]
fn restart_must_keep_tokens_and_revocations() {
    assert!(model().settle_tokens(&[], at(10)).is_err());
    let mut revoked = model();
    revoked.tokens[0].revoked = Some(at(5));
    assert!(revoked.settle_tokens(&["first".into()], at(10)).is_err());
    let mut unknown = model();
    unknown.tokens[0].revoke_begun = Some(at(5));
    assert_eq!(unknown.clone().settle_tokens(&[], at(10)), Ok(()));
    assert_eq!(unknown.settle_tokens(&["first".into()], at(10)), Ok(()));
}
