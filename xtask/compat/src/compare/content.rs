//! What changed about a body: its media types, and the schema of each of them.

use serde_json::Value;

use super::Comparison;
use super::cursor::Cursor;
use crate::kind::Kind;
use crate::normalise::{Object, includes, is_same_in_utf_8, is_xml};

/// An older media type and a newer one.
type Pair<'a> = (&'a String, &'a String);

impl Comparison<'_> {
    /// Compares the media types of a body. A media type that was removed is compared with the media
    /// type or the range that includes it now: of several ranges, with the most specific one.
    pub(super) fn content(&mut self, at: &Cursor<'_>) {
        let empty = Object::new();
        let [old, new] = at.values().map(|all| all.and_then(Value::as_object).unwrap_or(&empty));
        let mut gone: Vec<&String> = old.keys().filter(|name| !new.contains_key(*name)).collect();
        let mut came: Vec<&String> = new.keys().filter(|name| !old.contains_key(*name)).collect();
        let both = old.keys().filter(|name| new.contains_key(*name));
        let mut pairs: Vec<Pair<'_>> = both.map(|name| (name, name)).collect();
        for (kind, fits) in RELATIONS {
            let all = gone.iter().flat_map(|old| came.iter().map(move |new| (*old, *new)));
            let fitting = all.take(MOST_PAIRS).filter(|(old, new)| fits(old, new));
            let mut found: Vec<Pair<'_>> = fitting.collect();
            if *kind == Kind::MediaTypeWidened {
                // A media type goes into one range: the one with the longest name.
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
        // A range that both documents have may include what was added, or what was removed.
        pairs.extend(came.iter().filter_map(|name| Some((range(old, name)?, *name))));
        gone.retain(|name| {
            let Some(range) = range(new, name) else { return true };
            self.report_text(at, Kind::MediaTypeUnnamed, Some(name), None);
            pairs.push((name, range));
            false
        });
        for (was, is) in pairs {
            self.media(&at.at(Some(&old[was]), Some(&new[is])), is);
        }
        if let ([gone], [came]) = (&gone[..], &came[..]) {
            return self.report_text(at, Kind::MediaType, Some(gone), Some(came));
        }
        for name in gone {
            self.report_text(at, Kind::MediaTypeRemoved, Some(name), None);
        }
        for name in came {
            self.report_text(at, Kind::MediaTypeAdded, None, Some(name));
        }
    }

    fn media(&mut self, at: &Cursor<'_>, media_type: &str) {
        let mut media = at.clone();
        if is_xml(media_type) {
            media.node = self.graph.xml(media.node);
        }
        for (name, at) in media.keywords() {
            match name {
                "encoding" => self.encodings(&at, &media),
                "schema" => self.schema(&at),
                _ => self.other(&at, name),
            }
        }
    }
}

/// The number of pairs of media types in which a relation is looked for.
const MOST_PAIRS: usize = 100_000;

type Relation = (Kind, fn(&str, &str) -> bool);

/// How an added media type may replace a removed one, the closest relation first.
const RELATIONS: &[Relation] = &[
    (Kind::Charset, is_same_in_utf_8),
    (Kind::MediaTypeWidened, |old, new| includes(new, old)),
    (Kind::MediaTypeNarrowed, |old, new| includes(old, new)),
];

/// The most specific range that includes a media type.
fn range<'a>(all: &'a Object, name: &str) -> Option<&'a String> {
    all.keys().filter(|range| includes(range, name)).max_by_key(|range| range.len())
}
