//! The body reader, compared with a second one, written from RFC 8259 and the contract alone.

use plant_store_server::http::strict;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::spelling::{near_plant, spelled_plant};
use super::{edited, fuzz, second_reader};

/// What the service reads.
fn read(body: &[u8]) -> Result<Value, String> {
    let sent = strict::read(body).map_err(|refused| refused.to_string())?;
    let mut plant = json!(sent.plant);
    plant["id"] = sent.id.into();
    Ok(plant)
}

#[test]
fn plant_is_read_in_every_json_spelling() {
    fuzz(2_000, 250_000, spelled_plant(), |(plant, body)| {
        prop_assert_eq!(read(&body), Ok(plant), "{}", String::from_utf8_lossy(&body));
        Ok(())
    });
}

/// Both readers find the same plant, or both find none. A refusal names the body or a member.
#[test]
fn any_body_is_read_as_by_a_second_reader() {
    let bytes = prop_oneof![3 => select(&br#"{}[]":,\u0-1.e "#[..]), 1 => any::<u8>()];
    let spelled = prop_oneof![spelled_plant().prop_map(|(_, body)| body), near_plant()];
    let near = edited(spelled, bytes.clone());
    let bodies = prop_oneof![6 => near, 2 => vec(bytes, 0..40)];
    fuzz(2_000, 500_000, bodies, |body| {
        let read = read(&body);
        if let Err(message) = &read {
            prop_assert!(message.starts_with("the body ") || message.starts_with('`'));
        }
        let expected = second_reader::new_plant(&body);
        prop_assert_eq!(read.ok(), expected, "{}", String::from_utf8_lossy(&body));
        Ok(())
    });
}
