//! Histories that the model must reject, and some that it must accept: a model that accepts
//! everything looks green.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use super::Answer::{Conflict, Created, Failed, Lost, Refused, Unauthorized, Wrong};
use super::{Answer, Attempt, Model, Plant, Spell, Stored, Token};
use crate::model::faults::{Fault, File};

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

fn model_with(fault: Fault, begun: u64, ended: Option<u64>) -> Model {
    Model { spells: vec![spell(fault, begun, ended)], ..model() }
}

fn spell(fault: Fault, begun: u64, ended: Option<u64>) -> Spell {
    let [begun, ended] = [Some(begun), ended].map(|time| time.map(at));
    Spell { fault, begun: begun.expect("given"), complete: begun, ending: ended, ended }
}

/// A create whose whole request was sent at one time.
fn create(plant: Plant, answer: Answer, sent: u64, answered: u64) -> Attempt {
    let begun = at(sent);
    Attempt { plant, token: 0, answer, started: begun, begun, ended: at(answered) }
}

fn stored(plants: &[Plant]) -> Stored {
    plants.iter().map(|plant| (plant.id, plant.variant)).collect()
}

/// Asserts that the model rejects the history for that reason.
fn rejects(model: &Model, attempts: &[Attempt], plants: &[Plant], why: &str) {
    let judged = model.clone().settle(attempts, &stored(plants));
    let Err(found) = judged else { panic!("accepted: {attempts:?}") };
    assert!(found.contains(why), "{found}");
}

fn accepts(model: &Model, attempts: &[Attempt], plants: &[Plant]) {
    let judged = model.clone().settle(attempts, &stored(plants));
    assert_eq!(judged, Ok(()), "{attempts:?}");
}

#[test]
fn acknowledged_plant_must_be_stored() {
    let created = create(FICUS, Created, 10, 20);
    rejects(&model(), &[created], &[], "None is stored");
    rejects(&model(), &[created], &[FERN], "Some(1) is stored");
    accepts(&model(), &[created], &[FICUS]);
}

#[test]
fn settled_plant_must_stay() {
    let mut model = model();
    let unknown = create(FICUS, Failed, 10, 20);
    model.spells.push(spell(Fault::SyncFails(File::Wal), 5, None));
    assert_eq!(model.settle(&[unknown], &stored(&[FICUS])), Ok(()));
    rejects(&model, &[], &[], "None is stored");
}

#[test]
fn plant_that_nobody_sent_must_not_be_stored() {
    rejects(&model(), &[], &[FICUS], "was never sent");
    let unauthorized = Attempt { token: 1, ..create(FICUS, Unauthorized, 10, 20) };
    let unknown = Token { valid_since: None, ..model().tokens[0].clone() };
    let tokens = vec![model().tokens[0].clone(), unknown];
    rejects(&Model { tokens, ..model() }, &[unauthorized], &[FICUS], "Some(0) is stored");
}

#[test]
fn one_id_must_not_belong_to_two_plants() {
    let [one, other] = [create(FICUS, Created, 10, 30), create(FERN, Created, 10, 30)];
    rejects(&model(), &[one, other], &[FICUS], "contradicts earlier answers");
    accepts(&model(), &[one, create(FERN, Conflict, 10, 30)], &[FICUS]);
}

#[test]
fn conflict_needs_a_different_plant() {
    let conflict = create(FICUS, Conflict, 10, 20);
    rejects(&model(), &[conflict], &[], "contradicts earlier answers");
    let later = create(FERN, Created, 30, 40);
    rejects(&model(), &[conflict, later], &[FERN], "contradicts earlier answers");
}

#[test]
fn revoked_token_must_not_create() {
    let mut model = model();
    model.tokens[0].revoke_begun = Some(at(100));
    model.tokens[0].revoked = Some(at(2200));
    rejects(&model, &[create(FICUS, Created, 2300, 2310)], &[FICUS], "was revoked");
    let held_back = Attempt { started: at(50), ..create(FICUS, Created, 2300, 2310) };
    rejects(&model, &[held_back], &[FICUS], "was revoked");
    accepts(&model, &[create(FICUS, Created, 2100, 2300)], &[FICUS]);
    accepts(&model, &[create(FICUS, Unauthorized, 150, 160)], &[]);
}

#[test]
fn valid_token_must_be_accepted() {
    rejects(&model(), &[create(FICUS, Unauthorized, 10, 20)], &[], "token is valid");
}

#[test]
fn refusal_needs_a_fault() {
    let refused = create(FICUS, Refused, 5000, 5010);
    rejects(&model(), &[refused], &[], "no fault");
    let hang = Fault::SyncHangs(File::Wal);
    rejects(&model_with(hang, 0, Some(1000)), &[refused], &[], "no fault");
    rejects(&model_with(Fault::Slow, 0, None), &[refused], &[], "no fault");
    rejects(&model_with(hang, 0, None), &[create(FICUS, Failed, 10, 20)], &[], "no fault");
    rejects(&model_with(hang, 0, None), &[create(FICUS, Lost, 10, 20)], &[], "no fault");
    accepts(&model_with(hang, 0, Some(4000)), &[refused], &[FICUS]);
}

#[test]
fn stall_of_the_machine_explains_only_a_503() {
    let model = model_with(Fault::Stalled, 0, Some(1000));
    accepts(&model, &[create(FICUS, Refused, 1500, 1510)], &[]);
    rejects(&model, &[create(FICUS, Lost, 1500, 1510)], &[], "no fault");
    rejects(&model, &[create(FICUS, Created, 1500, 1510)], &[], "None is stored");
}

#[test]
fn restart_of_the_database_must_be_waited_out() {
    let model = model_with(Fault::BackendKilled, 100, Some(100));
    rejects(&model, &[create(FICUS, Refused, 90, 110)], &[], "no fault");
    accepts(&model, &[create(FICUS, Refused, 90, 5000)], &[]);
}

#[test]
fn answer_must_not_be_late() {
    rejects(&model(), &[create(FICUS, Created, 0, 6000)], &[FICUS], "no answer after");
    let paused = model_with(Fault::Paused, 1000, Some(5900));
    accepts(&paused, &[create(FICUS, Created, 0, 6000)], &[FICUS]);
}

#[test]
fn renamed_file_must_get_no_200() {
    let model = model_with(Fault::Renamed(File::Store), 100, None);
    rejects(&model, &[create(FICUS, Created, 110, 120)], &[FICUS], "a fault must prevent it");
    accepts(&model, &[create(FICUS, Created, 90, 120)], &[FICUS]);
}

#[test]
fn database_that_does_not_sync_must_get_no_200() {
    let model = model_with(Fault::NoSync, 0, Some(9000));
    rejects(&model, &[create(FICUS, Created, 4000, 4010)], &[FICUS], "a fault must prevent it");
    accepts(&model, &[create(FICUS, Created, 1000, 1010)], &[FICUS]);
}

#[test]
fn stop_must_answer_what_it_commits() {
    let lost = create(FICUS, Lost, 10, 30);
    rejects(&model_with(Fault::Terminated, 20, None), &[lost], &[FICUS], "Some(0) is stored");
    accepts(&model_with(Fault::Killed, 20, None), &[lost], &[FICUS]);
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

#[test]
fn wrong_answer_is_never_allowed() {
    let model = model_with(Fault::SyncFails(File::Wal), 0, None);
    rejects(&model, &[create(FICUS, Wrong, 10, 20)], &[FICUS], "is wrong");
}
