//! What changed between the responses of two operations.

use std::collections::{BTreeMap, BTreeSet};

use super::Comparison;
use super::graph::Spot;
use crate::change::Shown;
use crate::kind::Kind;
use crate::model::{Response, Text};

/// The responses of an operation by status.
type All<'a> = BTreeMap<&'a str, &'a Response>;

impl Comparison<'_> {
    /// Compares the responses by status. A websocket always answers with the status 101 of its
    /// handshake, whether the document says so or not.
    pub(super) fn responses(
        &mut self,
        at: &Spot,
        is_websocket: bool,
        old: &BTreeMap<Text, Response>,
        new: &BTreeMap<Text, Response>,
    ) {
        let [old, new] = [old, new].map(|all| all.iter().map(|(status, one)| (&**status, one)));
        let (mut old, mut new): (All<'_>, All<'_>) = (old.collect(), new.collect());
        for status in ["default", "101"] {
            if is_websocket && old.contains_key(status) != new.contains_key(status) {
                old.remove(status);
                new.remove(status);
            }
        }
        let moved = self.moved(at, &old, &new);
        for status in old.keys().chain(new.keys()).collect::<BTreeSet<_>>() {
            if !moved.contains(status) {
                let at = at.below(status);
                self.status(&at, status, &old, &new);
            }
        }
    }

    /// Reports the only success that was removed and the only one that was added as one change, and
    /// returns their statuses.
    fn moved<'s>(&mut self, at: &Spot, old: &All<'s>, new: &All<'s>) -> Vec<&'s str> {
        let only = |one: &All<'s>, other: &All<'s>| {
            let only = one.keys().filter(|status| !other.contains_key(*status));
            only.filter(|status| is_success(status, one)).copied().collect::<Vec<&str>>()
        };
        let (gone, came) = (only(old, new), only(new, old));
        let ([gone], [came]) = (&gone[..], &came[..]) else { return Vec::new() };
        let kind = if covers(gone, came) { Kind::SuccessNamed } else { Kind::SuccessStatus };
        self.report_text(at, kind, Some(gone), Some(came));
        // Whether there is a body follows from the status.
        if old[gone].content.is_some() && new[came].content.is_some() {
            self.response(at, old[gone], new[came]);
        }
        vec![gone, came]
    }

    fn status(&mut self, at: &Spot, status: &str, old: &All<'_>, new: &All<'_>) {
        // A status that has no entry belongs to the entry of its range, or to the default one.
        let before = old.get(status).copied().or_else(|| cover(status, old));
        let after = new.get(status).copied().or_else(|| cover(status, new));
        let is_split = new.keys().any(|other| *other != status && covers(status, other));
        let [was_success, is_success] = [old, new].map(|all| is_success(status, all));
        let media_types = |response| Some(Shown::text(&media_types(response)));
        match (before, after) {
            (Some(before), Some(after)) => {
                let is_success = was_success || is_success;
                let [gone, came] = match is_success {
                    true => [Kind::SuccessNamed; 2],
                    false => [Kind::RefusalRemoved, Kind::RefusalAdded],
                };
                if !new.contains_key(status) {
                    self.report(at, gone, media_types(before), None);
                } else if !old.contains_key(status) {
                    self.report(at, came, None, media_types(after));
                }
                self.response(at, before, after);
            }
            // Its statuses have entries of their own now.
            (Some(_), None) if is_split && status != "default" => {}
            (Some(before), None) => {
                let kind = if was_success { Kind::SuccessRemoved } else { Kind::RefusalRemoved };
                self.report(at, kind, media_types(before), None);
            }
            (None, Some(after)) => {
                let kind = match is_success {
                    true if old.is_empty() => Kind::AnswerAdded,
                    true => Kind::SuccessAdded,
                    false => Kind::RefusalAdded,
                };
                self.report(at, kind, None, media_types(after));
            }
            (None, None) => {}
        }
    }

    fn response(&mut self, at: &Spot, old: &Response, new: &Response) {
        let Response { content, headers, notes } = old;
        let at = at.at(Some(notes.place.0.clone()), Some(new.notes.place.0.clone()));
        let content_at = at.below("content");
        let shown = |response| Some(Shown::text(&media_types(response)));
        match (content, &new.content) {
            (Some(old), Some(new)) => self.content(&content_at, old, new),
            (None, Some(_)) => self.report(&content_at, Kind::AnswerAdded, None, shown(new)),
            (Some(_), None) => self.report(&content_at, Kind::Removed, shown(old), None),
            (None, None) => {}
        }
        self.fields(&at.below("headers"), headers, &new.headers);
        self.notes(&at, notes, &new.notes);
    }
}

/// The media types of a response.
fn media_types(response: &Response) -> String {
    let names: Vec<&str> = response.content.iter().flatten().map(|(name, _)| &name[..]).collect();
    if names.is_empty() { "no content".to_owned() } else { names.join(", ") }
}

/// Whether a client takes the status for a success. The default response is one if no other is.
/// Only a client that asks for a part, or for what changed, receives 206 or 304 (RFC 9110, sections
/// 13 and 14).
fn is_success(status: &str, all: &All<'_>) -> bool {
    let is_good =
        |status: &str| status.starts_with(['2', '3']) && !["206", "304"].contains(&status);
    is_good(status) || status == "default" && !all.keys().any(|status| is_good(status))
}

/// Whether the entry of a range, or the default one, is also about another status.
fn covers(range: &str, status: &str) -> bool {
    range == "default" || range.strip_suffix("XX").is_some_and(|class| status.starts_with(class))
}

/// The response of a status that has no entry of its own.
fn cover<'a>(status: &str, all: &All<'a>) -> Option<&'a Response> {
    let range = status.get(..1).map(|class| format!("{class}XX"));
    let is_alike = is_success("default", all) == is_success(status, all);
    let default = all.get("default").filter(|_| is_alike);
    range.and_then(|range| all.get(range.as_str())).or(default).copied()
}
