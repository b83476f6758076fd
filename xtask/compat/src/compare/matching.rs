//! Decides which parts of two lists belong together: by what they say, never by their position.

use std::collections::{BTreeSet, HashMap};

use crate::Document;
use crate::model::{Case, Schema, hash};

/// A part of each list, or of one of them.
pub type Pair<'a> = (Option<&'a Case>, Option<&'a Case>);

/// A list of parts, and the document that contains it.
pub type List<'a> = (&'a Document, &'a [Case]);

/// Pairs the parts of two lists, the most similar parts first. Parts that are left over have no
/// partner.
pub fn pairs<'a>(old: List<'a>, new: List<'a>) -> Vec<Pair<'a>> {
    let [old, new] = [old, new].map(|(document, parts)| {
        parts.iter().map(|part| Part::of(document, part)).collect::<Vec<_>>()
    });
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
            pairs.push((Some(old[at].case), Some(new[candidate].case)));
        }
    }
    let left = |parts: &[Part<'a>], taken: &BTreeSet<usize>| {
        let left = parts.iter().enumerate().filter(|(at, _)| !taken.contains(at));
        left.map(|(_, part)| part.case).collect::<Vec<_>>()
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
    case: &'a Case,
    keys: BTreeSet<Key>,
}

impl<'a> Part<'a> {
    fn of(document: &Document, case: &'a Case) -> Self {
        let Case { schema, values } = case;
        let whole = document.resolved(schema).unwrap_or_default();
        let written = format!("{:?}", Schema { tag: None, ..(**schema).clone() });
        let nameless = hash(&(document.model.prints.of_schema(schema), values)).to_string();
        let mut keys = BTreeSet::from([(By::Text, written), (By::Nameless, nameless)]);
        keys.extend(values.iter().flatten().map(|value| (By::Value, value.clone())));
        keys.extend(schema.made.0.name.iter().map(|title| (By::Title, title.to_string())));
        keys.extend(schema.type_name().map(|name| (By::Name, name.as_str().to_owned())));
        let mut has_tag = false;
        for (name, member) in &whole.members {
            let member = document.resolved(member).unwrap_or_default();
            let kind = member.kind.as_deref().unwrap_or("null");
            keys.insert((By::Feature, format!("{name}: {kind}")));
            if let Some(values) = member.values.as_ref().filter(|values| values.len() == 1) {
                has_tag = true;
                keys.extend(values.iter().map(|value| (By::Tag, format!("{name} = {value}"))));
            }
        }
        if whole.required.len() == 1 && !has_tag {
            let only = whole.required.iter();
            keys.extend(only.map(|only| (By::OnlyRequired, only.to_string())));
        }
        keys.extend(whole.values.iter().flatten().map(|value| (By::Feature, value.clone())));
        keys.extend(whole.items.iter().map(|_| (By::Feature, "items".to_owned())));
        keys.extend(whole.kind.iter().map(|kind| (By::Feature, format!("type {kind}"))));
        Self { case, keys }
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
