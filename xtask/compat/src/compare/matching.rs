//! Pairs the subschemas of two lists (`oneOf`, `anyOf`, `allOf`) by their keywords, and never by
//! their position.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use super::Comparison;
use crate::Document;
use crate::model::Schema;

/// A subschema of each list, or of one of them.
pub type Pair<'a> = (Option<&'a Rc<Schema>>, Option<&'a Rc<Schema>>);

impl Comparison<'_> {
    /// Pairs the subschemas of two lists that share a key, the surest key first. The rest have no
    /// partner.
    pub(super) fn paired<'a>(&self, old: &'a [Rc<Schema>], new: &'a [Rc<Schema>]) -> Vec<Pair<'a>> {
        let mut old: Vec<_> = old.iter().map(|part| Part::of(self.old, part)).collect();
        let mut new: Vec<_> = new.iter().map(|part| Some(Part::of(self.new, part))).collect();
        let mut pairs: Vec<Pair<'a>> = Vec::new();
        for level in 0..LEVELS {
            // The first one of several parts with the same key is the last one of the list.
            let mut by_key: HashMap<String, Vec<usize>> = HashMap::new();
            for (at, part) in new.iter().enumerate().rev() {
                for key in part.iter().flat_map(|part| &part.keys[level]) {
                    by_key.entry(key.clone()).or_default().push(at);
                }
            }
            old.retain(|part| {
                let partner = part.keys[level].iter().find_map(|key| {
                    let candidates = by_key.get_mut(key)?;
                    std::iter::from_fn(|| candidates.pop()).find_map(|at| new[at].take())
                });
                pairs.extend(partner.iter().map(|one| (Some(part.schema), Some(one.schema))));
                partner.is_none()
            });
        }
        pairs.extend(old.iter().map(|part| (Some(part.schema), None)));
        pairs.extend(new.iter().flatten().map(|part| (None, Some(part.schema))));
        pairs
    }
}

/// The number of kinds of keys.
const LEVELS: usize = 6;

struct Part<'a> {
    schema: &'a Rc<Schema>,
    /// The keys by which parts are paired. The surest keys are the first ones.
    keys: [Vec<String>; LEVELS],
}

impl<'a> Part<'a> {
    fn of(document: &Document, schema: &'a Rc<Schema>) -> Self {
        let resolved = document.resolved(schema).unwrap_or_default();
        let mut features: BTreeSet<String> = resolved.enumeration.clone().unwrap_or_default();
        features.extend(resolved.type_.iter().map(|one| format!("type {one}")));
        features.extend(resolved.items.iter().map(|_| "items".to_owned()));
        let mut constants = Vec::new();
        for (name, property) in &resolved.properties {
            let property = document.resolved(property).unwrap_or_default();
            let type_ = property.type_.as_deref().unwrap_or("null");
            features.insert(format!("{name}: {type_}"));
            if let Some(values) = property.enumeration.as_ref().filter(|values| values.len() == 1) {
                constants.extend(values.iter().map(|one| format!("{name} = {one}")));
            }
        }
        // Externally tagged enums of Rust have schemas with one required property.
        let is_tagged = resolved.required.len() == 1 && constants.is_empty();
        let only_required = resolved.required.iter().filter(|_| is_tagged);
        let titles = schema.generated.title.iter().map(ToString::to_string);
        let names = schema.type_name().into_iter().map(|name| name.as_str().to_owned());
        let written = |schema: &Schema| {
            vec![format!("{:?}", Schema { discriminator: None, ..schema.clone() })]
        };
        let keys = [
            written(schema),
            // The same schema with another name.
            written(&resolved),
            constants,
            only_required.map(ToString::to_string).collect(),
            titles.chain(names).collect(),
            vec![format!("{features:?}")],
        ];
        Self { schema, keys }
    }
}
