//! Which parts of two lists belong together: by what they are, never by their place in the list.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use super::object::required;
use super::schema::{pointer, short};
use super::told;
use crate::normalise::{Model, meaning};

/// A part of each list, or of one of them.
pub type Pair<'a> = (Option<&'a Value>, Option<&'a Value>);

/// A list of parts, and the document that it is in.
pub type List<'a> = (&'a Model, &'a [Value]);

/// Pairs the parts of two lists, each once: those that are equal, whatever their types are called;
/// then those with the same tag, the same only required member, the same name; then the most alike.
/// The rest has no partner.
pub fn pairs<'a>(old: List<'a>, new: List<'a>) -> Vec<Pair<'a>> {
    let [mut old_left, mut new_left] = [old, new]
        .map(|(model, parts)| parts.iter().map(|part| Part::of(model, part)).collect::<Vec<_>>());
    let mut pairs: Vec<Pair<'a>> = Vec::new();
    let rounds: [fn(&Part<'_>) -> Vec<String>; 6] = [
        |part| vec![part.text.clone()],
        |part| vec![part.nameless.clone()],
        |part| part.tags.clone(),
        |part| part.only_required.iter().cloned().collect(),
        |part| part.schema.get("title").map(told).into_iter().collect(),
        |part| pointer(part.schema).map(str::to_owned).into_iter().collect(),
    ];
    for keys in rounds {
        let mut by_key: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, part) in new_left.iter().enumerate().rev() {
            for key in keys(part) {
                by_key.entry(key).or_default().push(at);
            }
        }
        let mut taken = BTreeSet::new();
        old_left.retain(|part| {
            let partner = keys(part).into_iter().find_map(|key| {
                let candidates = by_key.get_mut(&key)?;
                while candidates.last().is_some_and(|last| taken.contains(last)) {
                    candidates.pop();
                }
                candidates.pop()
            });
            let Some(partner) = partner else { return true };
            taken.insert(partner);
            pairs.push((Some(part.schema), Some(new_left[partner].schema)));
            false
        });
        new_left = without(new_left, &taken);
    }
    let (gone, came) = most_alike(&old_left, &new_left, &mut pairs);
    pairs.extend(without(old_left, &gone).iter().map(|part| (Some(part.schema), None)));
    pairs.extend(without(new_left, &came).iter().map(|part| (None, Some(part.schema))));
    pairs
}

fn without<'a>(parts: Vec<Part<'a>>, taken: &BTreeSet<usize>) -> Vec<Part<'a>> {
    let left = parts.into_iter().enumerate().filter(|(at, _)| !taken.contains(at));
    left.map(|(_, part)| part).collect()
}

/// What a part is known by.
struct Part<'a> {
    schema: &'a Value,
    text: String,
    /// The same without the names of types.
    nameless: String,
    /// Members with one possible value: `kind = "tree"`.
    tags: Vec<String>,
    /// The only required member, as serde writes an enumeration.
    only_required: Option<String>,
    /// Type, members and values.
    features: BTreeSet<String>,
}

impl<'a> Part<'a> {
    fn of(model: &Model, schema: &'a Value) -> Self {
        let mut part = Self {
            schema,
            text: meaning(schema).to_string(),
            nameless: model.prints.nameless(schema),
            tags: Vec::new(),
            only_required: None,
            features: BTreeSet::new(),
        };
        let Some(whole) = model.resolved(schema) else { return part };
        for (name, member) in whole["properties"].as_object().into_iter().flatten() {
            let member = model.resolved(member).unwrap_or_default();
            part.features.insert(format!("{name}: {}", member["type"]));
            if let Some([value]) = member["enum"].as_array().map(Vec::as_slice) {
                part.tags.push(format!("{name} = {value}"));
            }
        }
        if let [only] = Vec::from_iter(required(&whole))[..]
            && part.tags.is_empty()
        {
            part.only_required = Some(only.to_owned());
        }
        let values = whole["enum"].as_array().into_iter().flatten();
        part.features.extend(values.map(Value::to_string));
        part.features.extend(whole.get("items").map(|_| "items".to_owned()));
        part.features.extend(whole.get("type").map(|kind| format!("type {kind}")));
        part
    }
}

/// Pairs what is left: the two that differ least first. Two parts belong together if they share at
/// least as much as they differ in. Returns which parts have a partner.
fn most_alike<'a>(
    old: &[Part<'a>],
    new: &[Part<'a>],
    pairs: &mut Vec<Pair<'a>>,
) -> (BTreeSet<usize>, BTreeSet<usize>) {
    let mut by_feature: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, part) in new.iter().enumerate() {
        for feature in &part.features {
            by_feature.entry(feature).or_default().push(at);
        }
    }
    let mut scored = Vec::new();
    for (at, part) in old.iter().enumerate() {
        let mut candidates = BTreeSet::new();
        for feature in &part.features {
            // A feature that many parts have tells none of them apart.
            let rare = by_feature.get(feature.as_str()).filter(|all| all.len() <= 50);
            candidates.extend(rare.into_iter().flatten().copied());
        }
        for candidate in candidates {
            let other = &new[candidate].features;
            let shared = part.features.intersection(other).count();
            let apart = part.features.symmetric_difference(other).count();
            if shared >= apart {
                scored.push((apart, at, candidate));
            }
        }
    }
    scored.sort_by_key(|&(apart, at, candidate)| (apart, &old[at].text, &new[candidate].text));
    let (mut gone, mut came) = (BTreeSet::new(), BTreeSet::new());
    for (_, at, candidate) in scored {
        if !gone.contains(&at) && !came.contains(&candidate) {
            gone.insert(at);
            came.insert(candidate);
            pairs.push((Some(old[at].schema), Some(new[candidate].schema)));
        }
    }
    (gone, came)
}

/// A name for a part of a list: its type, its title, or its only member with one value.
pub fn label(part: &Value) -> String {
    let tag = || {
        let mut members = part["properties"].as_object()?.values();
        members.find_map(|member| match member["enum"].as_array()?.as_slice() {
            [only] => Some(told(only)),
            _ => None,
        })
    };
    let name = pointer(part).map(|pointer| short(pointer).to_owned());
    name.or_else(|| part.get("title").map(told))
        .or_else(tag)
        .or_else(|| required(part).first().map(|name| (*name).to_owned()))
        .or_else(|| part.get("type").map(told))
        .unwrap_or_else(|| "-".to_owned())
}
