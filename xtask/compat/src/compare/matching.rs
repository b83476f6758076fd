//! Which parts of two lists belong together: by what they are, never by their place in the list.

use std::collections::{BTreeSet, HashMap};

use crate::model::{Model, Schema};

/// A part of each list, or of one of them.
pub type Pair<'a> = (Option<&'a Schema>, Option<&'a Schema>);

/// Pairs the parts of two lists, each once: those that are equal, whatever
/// their types are called; then those with the same tag, the
/// same only required member, the same name; then the most alike. The rest has no partner.
pub fn pairs<'a>(
    (old_model, old): (&'a Model, &[&'a Schema]),
    (new_model, new): (&'a Model, &[&'a Schema]),
) -> Vec<Pair<'a>> {
    let old: Vec<Part> = old.iter().map(|part| Part::of(old_model, part)).collect();
    let new: Vec<Part> = new.iter().map(|part| Part::of(new_model, part)).collect();
    let mut partners: Vec<Option<usize>> = vec![None; old.len()];
    let mut taken = vec![false; new.len()];

    let rounds: [fn(&Part<'_>) -> Vec<String>; 6] = [
        |part| vec![part.text.clone()],
        |part| vec![part.nameless.clone()],
        |part| part.tags.clone(),
        |part| part.only_required.iter().cloned().collect(),
        |part| part.schema.title.iter().cloned().collect(),
        |part| part.schema.pointer().map(str::to_owned).into_iter().collect(),
    ];
    for keys in rounds {
        let mut by_key: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, part) in new.iter().enumerate().rev() {
            for key in keys(part) {
                by_key.entry(key).or_default().push(at);
            }
        }
        for (at, part) in old.iter().enumerate() {
            if partners[at].is_some() {
                continue;
            }
            for key in keys(part) {
                let Some(candidates) = by_key.get_mut(&key) else { continue };
                while candidates.last().is_some_and(|&last| taken[last]) {
                    candidates.pop();
                }
                if let Some(partner) = candidates.pop() {
                    partners[at] = Some(partner);
                    taken[partner] = true;
                    break;
                }
            }
        }
    }
    most_alike(&old, &new, &mut partners, &mut taken);

    let mut pairs: Vec<Pair<'a>> = Vec::new();
    for (at, part) in old.iter().enumerate() {
        pairs.push((Some(part.schema), partners[at].map(|partner| new[partner].schema)));
    }
    let without = new.iter().zip(&taken).filter(|(_, taken)| !**taken);
    pairs.extend(without.map(|(part, _)| (None, Some(part.schema))));
    pairs
}

/// What a part is known by.
struct Part<'a> {
    schema: &'a Schema,
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
    fn of(model: &'a Model, schema: &'a Schema) -> Self {
        let text = serde_json::to_string(schema).expect("a schema is JSON");
        let limits = model.resolved(schema).and_then(Schema::limits);
        let mut part = Self {
            schema,
            text,
            nameless: model.nameless(schema),
            tags: Vec::new(),
            only_required: None,
            features: BTreeSet::new(),
        };
        let Some(limits) = limits else { return part };
        for (name, member) in &limits.members {
            let inner = model.resolved(member).and_then(Schema::limits);
            let kind = inner.and_then(|limits| limits.kind.as_deref()).unwrap_or_default();
            part.features.insert(format!("{name}: {kind}"));
            let values = inner.and_then(|limits| limits.values.as_ref());
            if let Some(values) = values.filter(|values| values.len() == 1) {
                part.tags.extend(values.iter().map(|value| format!("{name} = {value}")));
            }
        }
        if let [only] = Vec::from_iter(&limits.required)[..]
            && part.tags.is_empty()
        {
            part.only_required = Some(only.clone());
        }
        part.features.extend(limits.values.iter().flatten().cloned());
        part.features.extend(limits.items.iter().map(|_| "items".to_owned()));
        part.features.extend(limits.kind.iter().map(|kind| format!("type {kind}")));
        part
    }
}

/// Pairs what is left: the two that share most first. Two parts belong together if they share at
/// least half of what they are, or if they are all that is left.
fn most_alike(
    old: &[Part<'_>],
    new: &[Part<'_>],
    partners: &mut [Option<usize>],
    taken: &mut [bool],
) {
    let old_left: Vec<usize> = (0..old.len()).filter(|&at| partners[at].is_none()).collect();
    let new_left: Vec<usize> = (0..new.len()).filter(|&at| !taken[at]).collect();
    let mut by_feature: HashMap<&str, Vec<usize>> = HashMap::new();
    for &at in &new_left {
        for feature in &new[at].features {
            by_feature.entry(feature).or_default().push(at);
        }
    }
    let mut scored = Vec::new();
    for &at in &old_left {
        let mut candidates = BTreeSet::new();
        for feature in &old[at].features {
            // A feature that many parts have tells none of them apart.
            let rare = by_feature.get(feature.as_str()).filter(|all| all.len() <= 50);
            candidates.extend(rare.into_iter().flatten().copied());
        }
        for candidate in candidates {
            let shared = old[at].features.intersection(&new[candidate].features).count();
            let all = old[at].features.len().max(new[candidate].features.len());
            if shared * 2 >= all {
                scored.push((shared * 1000 / all, at, candidate));
            }
        }
    }
    scored.sort_by_key(|&(score, at, candidate)| {
        (std::cmp::Reverse(score), &old[at].text, &new[candidate].text)
    });
    for (_, at, candidate) in scored {
        if partners[at].is_none() && !taken[candidate] {
            partners[at] = Some(candidate);
            taken[candidate] = true;
        }
    }
}
