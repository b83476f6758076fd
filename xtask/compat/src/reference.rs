//! Where a `$ref` leads.

use anyhow::{Context, ensure};
use serde_json::Value;

use crate::place::{NAMES, Place};

/// Where a `$ref` leads. It fails if the comparison does not follow it: a change there would seem
/// harmless.
pub(crate) fn target<'a>(
    document: &'a Value,
    reference: &str,
) -> anyhow::Result<(Place, &'a Value)> {
    let steps = reference.strip_prefix("#/").into_iter().flat_map(|steps| steps.split('/'));
    let mut place = Place::default();
    steps.for_each(|step| place.push(&step.replace("~1", "/").replace("~0", "~")));
    let is_followed = match place.kinds()[..] {
        ["components", kind, _, ..] => NAMES.contains(&kind),
        ["paths", _, ..] => true,
        _ => false,
    };
    ensure!(
        is_followed && !place.is_whole(),
        "the `$ref` `{reference}` is not followed: only `#/components/...` and `#/paths/...` of \
         the same document are, without extensions, examples and defaults"
    );
    // The order of a list with names does not count, so a position in it is no place.
    let value = place.find(document).with_context(|| {
        format!("the `$ref` `{reference}` leads nowhere, or to a position in a list with names")
    })?;
    Ok((place, value))
}

/// Where a value leads through every `$ref` at its top; none if that is a loop.
pub(crate) fn resolved<'a>(
    document: &'a Value,
    place: &Place,
    value: &'a Value,
) -> Option<(Place, &'a Value)> {
    let mut found = (place.clone(), value);
    for _ in 0..100 {
        match found.1["$ref"].as_str() {
            Some(reference) => found = target(document, reference).ok()?,
            None => return Some(found),
        }
    }
    None
}
