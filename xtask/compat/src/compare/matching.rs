//! Pairs the subschemas of two lists (`oneOf`, `anyOf`, `allOf`) by their keywords, and never by
//! their position.

use std::collections::{BTreeSet, HashMap};

use super::Comparison;
use crate::Document;
use crate::model::{Alternative, Schema, hash};

/// A subschema of each list, or of one of them.
pub type Pair<'a> = (Option<&'a Alternative>, Option<&'a Alternative>);

impl Comparison<'_> {
    /// Pairs the subschemas of two lists, the most similar ones first. The rest have no partner.
    pub(super) fn paired<'a>(
        &self,
        old: &'a [Alternative],
        new: &'a [Alternative],
    ) -> Vec<Pair<'a>> {
        let old: Vec<_> = old.iter().map(|part| Part::of(self.old, part)).collect();
        let new: Vec<_> = new.iter().map(|part| Part::of(self.new, part)).collect();
        let mut by_key: HashMap<&Key, Vec<usize>> = HashMap::new();
        for (at, part) in new.iter().enumerate() {
            for key in &part.keys {
                by_key.entry(key).or_default().push(at);
            }
        }
        // The number of parts of the older list that had the key so far.
        let mut ranks: HashMap<&Key, usize> = HashMap::new();
        let mut alike = Vec::new();
        for (at, part) in old.iter().enumerate() {
            let mut candidates: BTreeSet<usize> = BTreeSet::new();
            for key in &part.keys {
                let Some(all) = by_key.get(key) else { continue };
                let rank = ranks.entry(key).or_default();
                let first = all.len().saturating_sub(MOST_CANDIDATES).min(*rank);
                candidates.extend(all[first..].iter().take(MOST_CANDIDATES));
                *rank += 1;
            }
            for candidate in candidates {
                let distance = part.distance(&new[candidate]);
                alike.extend(distance.map(|distance| (distance, at, candidate)));
            }
        }
        alike.sort();
        let mut pairs: Vec<Pair<'a>> = Vec::new();
        let mut taken_old = BTreeSet::new();
        let mut taken_new = BTreeSet::new();
        for (_, at, candidate) in alike {
            if !taken_old.contains(&at) && !taken_new.contains(&candidate) {
                taken_old.insert(at);
                taken_new.insert(candidate);
                pairs.push((Some(old[at].alternative), Some(new[candidate].alternative)));
            }
        }
        let left_old = old.iter().enumerate().filter(|(at, _)| !taken_old.contains(at));
        pairs.extend(left_old.map(|(_, part)| (Some(part.alternative), None)));
        let left_new = new.iter().enumerate().filter(|(at, _)| !taken_new.contains(at));
        pairs.extend(left_new.map(|(_, part)| (None, Some(part.alternative))));
        pairs
    }
}

/// The limit of parts with the same key with which a part is compared. If there are more, it is
/// compared with those around the same position among them.
const MOST_CANDIDATES: usize = 50;

/// A key by which parts are paired: what it consists of, and its text.
type Key = (By, String);

/// What a key consists of. The surest key is the first one.
#[derive(PartialEq, Eq, PartialOrd, Ord, Hash)]
enum By {
    /// All keywords.
    Keywords,
    /// All keywords, without the names of types.
    Fingerprint,
    /// A property with one possible value: `kind = "ebook"`.
    Constant,
    /// The only required property, as in schemas of externally tagged Rust enums.
    OnlyRequired,
    Title,
    Name,
    /// A value of the discriminator.
    DiscriminatorValue,
    /// The type, a property or a value of the enumeration.
    Feature,
}

struct Part<'a> {
    alternative: &'a Alternative,
    keys: BTreeSet<Key>,
}

impl<'a> Part<'a> {
    fn of(document: &Document, alternative: &'a Alternative) -> Self {
        let Alternative { schema, values } = alternative;
        let resolved = document.resolved(schema).unwrap_or_default();
        let keywords = format!("{:?}", Schema { discriminator: None, ..(**schema).clone() });
        let print = hash(&(document.model.fingerprints.of_schema(schema), values)).to_string();
        let mut keys = BTreeSet::from([(By::Keywords, keywords), (By::Fingerprint, print)]);
        keys.extend(values.iter().flatten().map(|value| (By::DiscriminatorValue, value.clone())));
        keys.extend(schema.generated.title.iter().map(|title| (By::Title, title.to_string())));
        keys.extend(schema.type_name().map(|name| (By::Name, name.as_str().to_owned())));
        let mut has_constant = false;
        for (name, property) in &resolved.properties {
            let property = document.resolved(property).unwrap_or_default();
            let type_ = property.type_.as_deref().unwrap_or("null");
            keys.insert((By::Feature, format!("{name}: {type_}")));
            if let Some(values) = property.enumeration.as_ref().filter(|values| values.len() == 1) {
                has_constant = true;
                keys.extend(values.iter().map(|one| (By::Constant, format!("{name} = {one}"))));
            }
        }
        if resolved.required.len() == 1 && !has_constant {
            let only = resolved.required.iter();
            keys.extend(only.map(|only| (By::OnlyRequired, only.to_string())));
        }
        let values = resolved.enumeration.iter().flatten();
        keys.extend(values.map(|value| (By::Feature, value.clone())));
        keys.extend(resolved.items.iter().map(|_| (By::Feature, "items".to_owned())));
        keys.extend(resolved.type_.iter().map(|one| (By::Feature, format!("type {one}"))));
        Self { alternative, keys }
    }

    /// The distance between two parts: the surest key that they share, and the number of features
    /// that only one of them has. `None` if they share only features, and fewer than differ.
    fn distance<'b>(&'b self, other: &'b Self) -> Option<(&'b By, usize)> {
        let features = |key: &&Key| key.0 == By::Feature;
        let apart = self.keys.symmetric_difference(&other.keys).filter(features).count();
        let shared = self.keys.intersection(&other.keys).filter(features).count();
        let (by, _) = self.keys.intersection(&other.keys).next()?;
        let count = |part: &Self| part.keys.iter().filter(features).count();
        // One part has all features of the other part.
        let is_subset = shared == count(self).min(count(other));
        (*by != By::Feature || shared >= apart || is_subset).then_some((by, apart))
    }
}
