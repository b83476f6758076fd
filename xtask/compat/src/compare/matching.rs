//! Decides which parts of two lists belong together: by what they say, never by their position.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use super::schema::pointer;
use super::strings;
use crate::json::{entries, items};
use crate::normalise::{Model, NAME, VALUES, meaning};
use crate::pointer::is_type;

/// A part of each list, or of one of them.
pub type Pair<'a> = (Option<&'a Value>, Option<&'a Value>);

/// A list of parts, and the document that contains it.
pub type List<'a> = (&'a Model, &'a [Value]);

/// Pairs the parts of two lists, the most similar parts first. Parts that are left over have no
/// partner.
pub fn pairs<'a>(old: List<'a>, new: List<'a>) -> Vec<Pair<'a>> {
    let [old, new] = [old, new]
        .map(|(model, parts)| parts.iter().map(|part| Part::of(model, part)).collect::<Vec<_>>());
    let mut by_key: HashMap<&Key, Vec<usize>> = HashMap::new();
    for (at, part) in new.iter().enumerate() {
        for key in &part.keys {
            by_key.entry(key).or_default().push(at);
        }
    }
    // How many parts of the older list had the key so far.
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
    let mut gone = BTreeSet::new();
    let mut came = BTreeSet::new();
    for (_, at, candidate) in alike {
        if !gone.contains(&at) && !came.contains(&candidate) {
            gone.insert(at);
            came.insert(candidate);
            pairs.push((Some(old[at].schema), Some(new[candidate].schema)));
        }
    }
    let left = |parts: &[Part<'a>], taken: &BTreeSet<usize>| {
        let left = parts.iter().enumerate().filter(|(at, _)| !taken.contains(at));
        left.map(|(_, part)| part.schema).collect::<Vec<_>>()
    };
    pairs.extend(left(&old, &gone).into_iter().map(|part| (Some(part), None)));
    pairs.extend(left(&new, &came).into_iter().map(|part| (None, Some(part))));
    pairs
}

/// The number of parts with the same key that a part is compared with. If there are more, it is
/// compared with those at the same position among them.
const MOST_CANDIDATES: usize = 50;

/// Something that identifies a part, and how surely.
type Key = (By, String);

/// What a key consists of, the surest first.
#[derive(PartialEq, Eq, PartialOrd, Ord, Hash)]
enum By {
    Text,
    /// The text without the names of types.
    Nameless,
    /// A member with one possible value: `kind = "ebook"`.
    Tag,
    /// The only required member, as serde writes an enumeration.
    OnlyRequired,
    Title,
    Name,
    /// A value of the discriminator.
    Value,
    /// The type, a member or a value.
    Feature,
}

struct Part<'a> {
    schema: &'a Value,
    keys: BTreeSet<Key>,
}

impl<'a> Part<'a> {
    fn of(model: &Model, schema: &'a Value) -> Self {
        let whole = model.resolved(schema).unwrap_or_default();
        // The pointer to a schema without a name depends on the list.
        let inline = pointer(schema).filter(|pointer| !is_type(pointer));
        let written = inline.and_then(|pointer| model.schemas.get(pointer)).unwrap_or(schema);
        let mut keys = BTreeSet::from([
            (By::Text, meaning(written).to_string()),
            (By::Nameless, model.prints.nameless(written)),
        ]);
        keys.extend(items(&schema[VALUES]).iter().map(|value| (By::Value, value.to_string())));
        keys.extend(schema.get(NAME).map(|title| (By::Title, title.to_string())));
        keys.extend(pointer(written).map(|name| (By::Name, name.to_owned())));
        let mut has_tag = false;
        for (name, member) in entries(&whole["properties"]) {
            let member = model.resolved(member).unwrap_or_default();
            keys.insert((By::Feature, format!("{name}: {}", member["type"])));
            if let Some([value]) = member["enum"].as_array().map(Vec::as_slice) {
                has_tag = true;
                keys.insert((By::Tag, format!("{name} = {value}")));
            }
        }
        if let [only] = Vec::from_iter(strings(&whole["required"]))[..]
            && !has_tag
        {
            keys.insert((By::OnlyRequired, only.to_owned()));
        }
        keys.extend(items(&whole["enum"]).iter().map(|value| (By::Feature, value.to_string())));
        keys.extend(whole.get("items").map(|_| (By::Feature, "items".to_owned())));
        keys.extend(whole.get("type").map(|kind| (By::Feature, format!("type {kind}"))));
        Self { schema, keys }
    }

    /// How different two parts are: the surest key that they share, and the number of features that
    /// differ. None if more features differ than they share.
    fn distance<'b>(&'b self, other: &'b Self) -> Option<(&'b By, usize)> {
        let features = |key: &&Key| key.0 == By::Feature;
        let apart = self.keys.symmetric_difference(&other.keys).filter(features).count();
        let shared = self.keys.intersection(&other.keys).filter(features).count();
        let (by, _) = self.keys.intersection(&other.keys).next()?;
        // One part contains all features of the other part.
        let count = |part: &Self| part.keys.iter().filter(features).count();
        let is_more = shared == count(self).min(count(other));
        (*by != By::Feature || shared >= apart || is_more).then_some((by, apart))
    }
}
