//! Compares the media types of a request or response body.

use std::collections::BTreeSet;

use super::Comparison;
use super::graph::Spot;
use crate::kind::Kind;
use crate::model::{Content, MediaType};

/// An older media type and the newer one that corresponds to it.
type Pair<'a> = (&'a String, &'a String);

impl Comparison<'_> {
    /// Compares the media types of a body. A removed media type is compared with the added media
    /// type or range that includes it, and of several ranges with the most specific one.
    pub(super) fn content(&mut self, at: &Spot, old: &Content, new: &Content) {
        let mut gone: Vec<&String> = old.keys().filter(|name| !new.contains_key(*name)).collect();
        let mut came: Vec<&String> = new.keys().filter(|name| !old.contains_key(*name)).collect();
        let both = old.keys().filter(|name| new.contains_key(*name));
        let mut pairs: Vec<Pair<'_>> = both.map(|name| (name, name)).collect();
        for (kind, fits) in RELATIONS {
            let all = gone.iter().flat_map(|old| came.iter().map(move |new| (*old, *new)));
            let fitting = all.take(MOST_PAIRS).filter(|(old, new)| fits(old, new));
            let mut found: Vec<Pair<'_>> = fitting.collect();
            if *kind == Kind::MediaTypeWidened {
                // The most specific range is the one with the longest name.
                found.sort_by_key(|(old, new)| (*old, usize::MAX - new.len()));
                found.dedup_by_key(|(old, _)| *old);
            }
            gone.retain(|name| !found.iter().any(|(old, _)| old == name));
            came.retain(|name| !found.iter().any(|(_, new)| new == name));
            for (old, new) in &found {
                self.report_text(at, *kind, Some(old), Some(new));
            }
            pairs.extend(found);
        }
        // A range in both documents may include a media type that was added or removed.
        pairs.extend(came.iter().filter_map(|name| Some((range(old, name)?, *name))));
        gone.retain(|name| {
            let Some(range) = range(new, name) else { return true };
            self.report_text(at, Kind::MediaTypeUnnamed, Some(name), None);
            pairs.push((name, range));
            false
        });
        for (was, is) in pairs {
            self.media_type(at, &old[was], &new[is]);
        }
        for name in gone {
            self.report_text(at, Kind::MediaTypeRemoved, Some(name), None);
        }
        for name in came {
            self.report_text(at, Kind::MediaTypeAdded, None, Some(name));
        }
    }

    fn media_type(&mut self, at: &Spot, old: &MediaType, new: &MediaType) {
        let MediaType { schema, extras } = old;
        let at = at.placed(Some(extras.place.clone()), Some(new.extras.place.clone()));
        self.schema(&at.below("schema"), schema, &new.schema);
        self.extras(&at, extras, &new.extras);
    }
}

/// The limit of pairs of media types that are examined for a relation.
const MOST_PAIRS: usize = 100_000;

type Relation = (Kind, fn(&str, &str) -> bool);

/// The relations by which an added media type may replace a removed one, the closest one first.
const RELATIONS: &[Relation] = &[
    (Kind::Charset, is_same_in_utf_8),
    (Kind::MediaTypeWidened, |old, new| includes(new, old)),
    (Kind::MediaTypeNarrowed, |old, new| includes(old, new)),
];

/// The most specific range that includes a media type.
fn range<'a>(all: &'a Content, name: &str) -> Option<&'a String> {
    all.keys().filter(|range| includes(range, name)).max_by_key(|range| range.len())
}

/// Whether a media range includes a media type, or another range (RFC 9110, section 12.5.1).
fn includes(range: &str, other: &str) -> bool {
    let (range, other) = (split(range), split(other));
    let is_kind = match range.0.strip_suffix('*') {
        Some("*/") => true,
        Some(prefix) => other.0.starts_with(prefix),
        None => range.0 == other.0,
    };
    is_kind && range.1.is_subset(&other.1)
}

/// Whether two media types differ at most in the charset UTF-8, or US-ASCII, which is a part of it.
fn is_same_in_utf_8(one: &str, other: &str) -> bool {
    let without = |name| {
        let (kind, mut parameters) = split(name);
        parameters.retain(|one| !["charset=utf-8", "charset=us-ascii"].contains(one));
        (kind, parameters)
    };
    without(one) == without(other)
}

fn split(name: &str) -> (&str, BTreeSet<&str>) {
    let mut parts = name.split(';');
    (parts.next().unwrap_or_default(), parts.collect())
}
