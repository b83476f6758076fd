//! Fuzzing of the code that reads requests: long property tests. The code that knows the right
//! answers shares nothing with the service. `cargo xtask soak` runs them at full length. What they
//! find becomes a plain test.

mod bodies;
mod credentials;
mod exchanges;
mod in_process;
mod second_reader;
mod spelling;

use plant_store_tests::amount;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{TestCaseResult, TestError};

use crate::wire::properties::runner;

/// Tries that many inputs. A failure shows the smallest input found that breaks the property.
fn fuzz<S: Strategy>(
    short: usize,
    soak: usize,
    inputs: S,
    holds: impl Fn(S::Value) -> TestCaseResult,
) {
    let cases = u32::try_from(amount(short, soak)).expect("fewer than 2^32 inputs");
    if let Err(TestError::Fail(why, input)) = runner(cases).run(&inputs, holds) {
        panic!("{why}: {input:?}");
    }
    println!("{cases} inputs");
}

/// One random change of bytes.
#[derive(Clone, Debug)]
enum Edit {
    Replace(Index, u8),
    Insert(Index, u8),
    Remove(Index),
    Repeat(Index, Index),
    Cut(Index),
}

impl Edit {
    fn apply(&self, bytes: &mut Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        let at = |index: &Index| index.index(bytes.len());
        match self {
            Self::Replace(index, byte) => {
                let at = at(index);
                bytes[at] = *byte;
            }
            Self::Insert(index, byte) => bytes.insert(at(index), *byte),
            Self::Remove(index) => drop(bytes.remove(at(index))),
            Self::Repeat(one, other) => {
                let (start, end) = (at(one).min(at(other)), at(one).max(at(other)));
                let repeated = bytes[start..end].to_vec();
                bytes.splice(end..end, repeated);
            }
            Self::Cut(index) => bytes.truncate(at(index)),
        }
    }
}

/// Valid bytes with up to three edits. The bytes that an edit writes come from `new`.
fn edited(
    valid: impl Strategy<Value = Vec<u8>>,
    new: impl Strategy<Value = u8> + Clone,
) -> impl Strategy<Value = Vec<u8>> {
    let edit = prop_oneof![
        3 => (any::<Index>(), new.clone()).prop_map(|(index, byte)| Edit::Replace(index, byte)),
        3 => (any::<Index>(), new).prop_map(|(index, byte)| Edit::Insert(index, byte)),
        2 => any::<Index>().prop_map(Edit::Remove),
        1 => any::<(Index, Index)>().prop_map(|(one, other)| Edit::Repeat(one, other)),
        1 => any::<Index>().prop_map(Edit::Cut),
    ];
    (valid, vec(edit, 0..4)).prop_map(|(mut bytes, edits)| {
        for edit in edits {
            edit.apply(&mut bytes);
        }
        bytes
    })
}
