//! Histories that the model must reject, and that no fault in `tests/faults` leads to: a model that
//! accepts everything looks green. The scenes show what it accepts.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use plant_store_tests::prelude::each_row;

use super::Answer::{Created, Failed, Lost, Refused, Stale, Unauthorized, Wrong};
use super::{Answer, Attempt, Model, Plant, Spell, Token};
use crate::model::faults::Call::Sync;
use crate::model::faults::Fault::{self, Fails, Hangs, Killed, Terminated};
use crate::model::faults::File::Wal;

const FICUS: Plant = Plant { id: 1, variant: 0 };
const FERN: Plant = Plant { id: 1, variant: 1 };

/// The beginning of all histories. Their times are in milliseconds.
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

fn at(time: u64) -> Instant {
    *START + Duration::from_millis(time)
}

/// A model with a token that is valid from the beginning, and with this fault.
fn model(spell: Option<Spell>) -> Model {
    let token = Token::new("first", "", Some(at(0)));
    Model { spells: Vec::from_iter(spell), ..Model::new(token, Duration::from_secs(5)) }
}

/// Creates the ficus.
fn create(answer: Answer, sent: u64, answered: u64) -> Attempt {
    Attempt { plant: FICUS, token: 0, answer, begun: at(sent), ended: at(answered) }
}

/// A fault that is fully in force from then on.
fn since(begun: u64, fault: Fault) -> Spell {
    Spell { complete: Some(at(begun)), ..Spell::new(fault, at(begun)) }
}

#[test]
fn impossible_answers_are_rejected() {
    let hang = Hangs(Sync, Wal);
    let earlier_hang = Spell { ended: Some(at(1000)), ..Spell::new(hang, at(0)) };
    // A fault, a create, and the reason.
    let rows = [
        (None, create(Unauthorized, 10, 20), "token is valid"),
        (Some(since(0, hang)), create(Lost, 10, 20), "no fault"),
        (Some(earlier_hang), create(Refused, 5000, 5010), "no fault"),
        (Some(since(0, Fails(Sync, Wal))), create(Wrong, 10, 20), "is wrong"),
    ];
    each_row(rows, |(spell, attempt, why)| {
        let mut model = model(spell);
        model.send(FICUS);
        model.answer(&attempt);
        let failure = model.failure.expect("it is rejected");
        assert!(failure.contains(why), "{failure}");
    });
}

#[test]
fn impossible_contents_are_rejected() {
    // A fault, a create, and the plant that is stored then.
    let rows = [
        (None, create(Stale, 10, 20), FICUS),
        (Some(since(0, Fails(Sync, Wal))), create(Failed, 10, 20), FERN),
        (Some(since(20, Killed)), create(Lost, 10, 30), FERN),
        // A stop must answer what it commits.
        (Some(since(20, Terminated)), create(Lost, 10, 30), FICUS),
    ];
    each_row(rows, |(spell, attempt, Plant { id, variant })| {
        let mut model = model(spell);
        model.send(FICUS);
        model.answer(&attempt);
        assert_eq!(model.failure, None);
        let judged = model.observe(&model.stored, &[(id, variant)].into());
        assert!(judged.expect_err("it is rejected").contains("was never accepted"));
    });
}

/// The change of a command that failed is known after the lease.
#[test]
fn restart_must_keep_tokens_and_revocations() {
    assert!(model(None).settle_tokens(&[], at(10)).is_err());
    let mut model = model(None);
    model.tokens[0].revoke_begun = Some(at(5));
    assert_eq!(model.settle_tokens(&["first".into()], at(10)), Ok(()));
    model.tokens[0].revoke_begun = Some(at(15));
    assert_eq!(model.settle_tokens(&[], at(20)), Ok(()));
    assert!(model.settle_tokens(&["first".into()], at(30)).is_err());
    model.send(FICUS);
    model.answer(&create(Created, 2030, 2040));
    assert!(model.failure.expect("it is rejected").contains("was revoked"));
}
