//! Fuzzing of the code that reads bodies: long property tests. The code that knows the right answers
//! shares nothing with the service. `cargo xtask soak` runs them at full length. What they
//! find becomes a plain test.

mod bodies;
pub mod second_reader;
pub mod spelling;

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

/// Valid bytes with up to three edits: a few bytes at a random place become a few others. The bytes
/// that an edit writes come from `new`, or are those in front of the place.
fn edited(
    valid: impl Strategy<Value = Vec<u8>>,
    new: impl Strategy<Value = u8>,
) -> impl Strategy<Value = Vec<u8>> {
    let written = prop_oneof![4 => vec(new, 0..3).prop_map(Some), 1 => Just(None)];
    let edit = (any::<Index>(), 0..3_usize, written);
    (valid, vec(edit, 0..4)).prop_map(|(mut bytes, edits)| {
        for (place, removed, written) in edits {
            let start = place.index(bytes.len() + 1);
            let end = bytes.len().min(start + removed);
            let written = written.unwrap_or_else(|| bytes[..start].to_vec());
            bytes.splice(start..end, written);
        }
        bytes
    })
}
