//! Compares the media types of a request or response body.

use std::collections::BTreeSet;

use super::Comparison;
use super::graph::Spot;
use crate::kind::Kind;
use crate::model::{Content, MediaType};

impl Comparison<'_> {
    /// Compares the media types of a body. A removed media type is compared with the most specific
    /// added range that includes it, or else with the added media types that it includes.
    pub(super) fn content(&mut self, owner: &Spot, old: &Content, new: &Content) {
        let at = &owner.below("content");
        let added: Vec<&String> = new.keys().filter(|name| !old.contains_key(*name)).collect();
        let mut replacements = BTreeSet::new();
        for (name, was) in old {
            if let Some(is) = new.get(name) {
                self.media_type(owner, name, was, is);
                continue;
            }
            let candidates = added.iter().copied().take(MOST_CANDIDATES);
            let wider = closest(candidates.clone().filter(|one| one.contains('*')), name);
            let found: Vec<(Kind, &String)> = match wider {
                Some(range) => vec![(Kind::MediaTypeWidened, range)],
                None => candidates
                    .filter(|one| includes(name, one))
                    .map(|one| (Kind::MediaTypeNarrowed, one))
                    .collect(),
            };
            if found.is_empty() {
                self.report(at, Kind::MediaTypeRemoved, Some(name), None);
            }
            for (kind, replacement) in found {
                self.report(at, kind, Some(name), Some(replacement));
                self.media_type(owner, replacement, was, &new[replacement]);
                replacements.insert(replacement);
            }
        }
        for name in added.into_iter().filter(|name| !replacements.contains(name)) {
            // A range may have included the media type before.
            if let Some(range) = closest(old.keys().take(MOST_CANDIDATES), name) {
                self.media_type(owner, name, &old[range], &new[name]);
            }
            self.report(at, Kind::MediaTypeAdded, None, Some(name));
        }
    }

    fn media_type(&mut self, owner: &Spot, name: &str, old: &MediaType, new: &MediaType) {
        let MediaType { schema, extras } = old;
        let at = owner.below(if name == "application/json" { "" } else { name });
        self.schema(&at, schema, &new.schema);
        self.extras(&at, extras, &new.extras);
    }
}

/// The limit of media types with which a media type is compared.
const MOST_CANDIDATES: usize = 100;

/// The most specific media range that includes a media type: the one with the longest name.
fn closest<'a>(ranges: impl Iterator<Item = &'a String>, name: &str) -> Option<&'a String> {
    ranges.filter(|range| includes(range, name)).max_by_key(|range| range.len())
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

fn split(name: &str) -> (&str, BTreeSet<&str>) {
    let mut parts = name.split(';');
    (parts.next().unwrap_or_default(), parts.collect())
}
