//! Compares the responses of two operations, and the media types of a body.

use std::collections::{BTreeMap, BTreeSet};

use super::Comparison;
use super::graph::Spot;
use crate::change::Place;
use crate::kind::Kind;
use crate::model::{Content, MediaType, Response, Text};

/// The responses of an operation by status.
type Responses = BTreeMap<Text, Response>;

impl Comparison<'_> {
    /// Compares the responses by status.
    pub(super) fn responses(&mut self, at: &Spot, old: &Responses, new: &Responses) {
        for status in old.keys().chain(new.keys()).collect::<BTreeSet<_>>() {
            let at = Spot { place: Place::of(status), ..at.clone() };
            self.status(&at, status, old, new);
        }
    }

    fn status(&mut self, at: &Spot, status: &str, old: &Responses, new: &Responses) {
        // A status that is not listed has the response of its range (`4XX`), or the default one.
        let before = old.get(status).or_else(|| covering(status, old));
        let after = new.get(status).or_else(|| covering(status, new));
        let [was_success, is_success] = [old, new].map(|all| is_success(status, all));
        let is_part = |other: &str| {
            other != status && covers(status, other) && self::is_success(other, new) == was_success
        };
        let is_split = new.keys().any(|other| is_part(other));
        match (before, after) {
            (Some(before), Some(after)) => {
                let is_success = was_success || is_success;
                let [removed, added] = if is_success {
                    [Kind::SuccessNamed; 2]
                } else {
                    [Kind::RefusalRemoved, Kind::RefusalAdded]
                };
                if !new.contains_key(status) {
                    self.report(at, removed, Some(&media_types(before)), None);
                } else if !old.contains_key(status) {
                    self.report(at, added, None, Some(&media_types(after)));
                }
                self.response(at, before, after);
            }
            // The newer document lists statuses of the removed range, or of the default response.
            (Some(_), None) if is_split && (was_success || status != "default") => {}
            (Some(before), None) => {
                let kind = if was_success { Kind::SuccessRemoved } else { Kind::RefusalRemoved };
                self.report(at, kind, Some(&media_types(before)), None);
            }
            (None, Some(after)) => {
                let kind = if !is_success {
                    Kind::RefusalAdded
                } else if old.is_empty() {
                    Kind::AnswerAdded
                } else {
                    Kind::SuccessAdded
                };
                self.report(at, kind, None, Some(&media_types(after)));
            }
            (None, None) => {}
        }
    }

    fn response(&mut self, at: &Spot, old: &Response, new: &Response) {
        let Response { content, headers, extras } = old;
        match (content, &new.content) {
            (Some(old), Some(new)) => self.content(at, old, new),
            (None, Some(_)) => self.report(at, Kind::AnswerAdded, None, Some(&media_types(new))),
            (Some(_), None) => self.report(at, Kind::Removed, Some(&media_types(old)), None),
            (None, None) => {}
        }
        self.fields(at, headers, &new.headers);
        self.extras(at, extras, &new.extras);
    }

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

/// The media types of a response.
fn media_types(response: &Response) -> String {
    let names: Vec<&str> = response.content.iter().flatten().map(|(name, _)| &name[..]).collect();
    if names.is_empty() { "no content".to_owned() } else { names.join(", ") }
}

/// Whether a status is a success. The default response is one if no other response is. 206 and 304
/// do not count, because only range and conditional requests receive them (RFC 9110, sections 13
/// and 14).
fn is_success(status: &str, all: &Responses) -> bool {
    let is_good =
        |status: &str| status.starts_with(['2', '3']) && !["206", "304"].contains(&status);
    is_good(status) || status == "default" && !all.keys().any(|status| is_good(status))
}

/// Whether a range, or `default`, includes a status.
fn covers(range: &str, status: &str) -> bool {
    range == "default" || range.strip_suffix("XX").is_some_and(|class| status.starts_with(class))
}

/// The response of a status that is not listed: the one of its range, or the default one.
fn covering<'a>(status: &str, all: &'a Responses) -> Option<&'a Response> {
    let range = status.get(..1).map(|class| format!("{class}XX"));
    let is_alike = is_success("default", all) == is_success(status, all);
    let default = all.get("default").filter(|_| is_alike);
    range.and_then(|range| all.get(range.as_str())).or(default)
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
