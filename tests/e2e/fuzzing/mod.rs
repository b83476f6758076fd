//! Fuzzing of the reader of bodies: a long property test, which compares it with a second reader
//! that shares nothing with the service. `cargo xtask soak` runs it at full length. What it finds
//! becomes a plain test.

pub mod second_reader;
pub mod spelling;

use plant_store_api::types::NewPlant;
use plant_store_server::http::strict;
use plant_store_tests::amount;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::TestError;
use serde_json::{Value, json};

use crate::wire::properties::runner;
use spelling::{near_plant, spelled_plant};

/// Valid bytes with up to three edits: a few bytes at a random offset become a few others. The
/// bytes that an edit writes come from `new`, or are those in front of the offset.
fn edited(
    valid: impl Strategy<Value = Vec<u8>>,
    new: impl Strategy<Value = u8>,
) -> impl Strategy<Value = Vec<u8>> {
    let written = prop_oneof![4 => vec(new, 0..3).prop_map(Some), 1 => Just(None)];
    let edit = (any::<Index>(), 0..3_usize, written);
    (valid, vec(edit, 0..4)).prop_map(|(mut bytes, edits)| {
        for (offset, removed, written) in edits {
            let start = offset.index(bytes.len() + 1);
            let end = bytes.len().min(start + removed);
            let written = written.unwrap_or_else(|| bytes[..start].to_vec());
            bytes.splice(start..end, written);
        }
        bytes
    })
}

/// What the service reads.
fn read(body: &[u8]) -> Result<Value, String> {
    let read = strict::read::<NewPlant>(body).map_err(|refused| refused.to_string())?;
    Ok(json!(read.value))
}

/// Both readers find the same plant, or both find none. A refusal names the body or a member. A
/// failure shows the smallest body found that breaks this.
#[test]
fn any_body_is_read_as_by_a_second_reader() {
    let bytes = prop_oneof![3 => select(&br#"{}[]":,\u0-1.e "#[..]), 1 => any::<u8>()];
    let spelled = prop_oneof![spelled_plant().prop_map(|(_, body)| body), near_plant()];
    let near = edited(spelled, bytes.clone());
    let bodies = prop_oneof![6 => near, 2 => vec(bytes, 0..40)];
    let cases = u32::try_from(amount(3_000, 750_000)).expect("fewer than 2^32 bodies");
    let tried = runner(cases).run(&bodies, |body| {
        let read = read(&body);
        if let Err(message) = &read {
            prop_assert!(message.starts_with("the body ") || message.starts_with('`'));
        }
        let expected = second_reader::new_plant(&body);
        prop_assert_eq!(read.ok(), expected, "{}", String::from_utf8_lossy(&body));
        Ok(())
    });
    if let Err(TestError::Fail(why, body)) = tried {
        panic!("{why}: {body:?}");
    }
    println!("{cases} bodies");
}
