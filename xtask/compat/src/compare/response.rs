//! What changed between the responses of two operations.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Comparison;
use super::cursor::Cursor;
use crate::change::Shown;
use crate::json::entries;
use crate::kind::Kind;

/// The responses of an operation by status.
type All<'a> = BTreeMap<&'a str, &'a Value>;

impl Comparison<'_> {
    /// Compares the responses by status. A websocket always answers with the status 101 of its
    /// handshake, whether the document says so or not.
    pub(super) fn responses(&mut self, at: &Cursor<'_>, is_websocket: bool) {
        let mut all = [All::new(), All::new()];
        for (status, at) in at.members() {
            let is_handshake = is_websocket && ["default", "101"].contains(&status);
            if status.starts_with("x-") {
                self.other(&at, status);
            } else if !is_handshake || at.old.is_some() == at.new.is_some() {
                all[0].extend(at.old.map(|old| (status, old)));
                all[1].extend(at.new.map(|new| (status, new)));
            }
        }
        let [old, new] = all;
        let moved = self.moved(at, &old, &new);
        for status in old.keys().chain(new.keys()).collect::<BTreeSet<_>>() {
            if !moved.contains(status) {
                self.status(&at.below(status), status, &old, &new);
            }
        }
    }

    /// Reports the only success that was removed and the only one that was added as one change, and
    /// returns their statuses.
    fn moved<'s>(&mut self, at: &Cursor<'_>, old: &All<'s>, new: &All<'s>) -> Vec<&'s str> {
        let only = |one: &All<'s>, other: &All<'s>| {
            let only = one.keys().filter(|status| !other.contains_key(*status));
            only.filter(|status| is_success(status, one)).copied().collect::<Vec<&str>>()
        };
        let (gone, came) = (only(old, new), only(new, old));
        let ([gone], [came]) = (&gone[..], &came[..]) else { return Vec::new() };
        let kind = if covers(gone, came) { Kind::SuccessNamed } else { Kind::SuccessStatus };
        self.report_text(at, kind, Some(gone), Some(came));
        // Whether there is a body follows from the status.
        if [old[gone], new[came]].iter().all(|response| response.get("content").is_some()) {
            self.response(&at.below(gone).at(Some(old[gone]), Some(new[came])));
        }
        vec![gone, came]
    }

    fn status(&mut self, at: &Cursor<'_>, status: &str, old: &All<'_>, new: &All<'_>) {
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
                self.response(&at.at(Some(before), Some(after)));
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

    fn response(&mut self, at: &Cursor<'_>) {
        for (name, at) in at.keywords() {
            match (name, at.old, at.new) {
                ("content", Some(_), Some(_)) => self.content(&at),
                ("content", None, _) => self.value(&at, Kind::AnswerAdded),
                ("content", ..) => self.value(&at, Kind::Removed),
                ("headers", ..) => self.fields(&at),
                ("links", ..) => self.value(&at, Kind::Link),
                _ => self.other(&at, name),
            }
        }
    }
}

/// The media types of a response.
fn media_types(response: &Value) -> String {
    let names: Vec<&str> = entries(&response["content"]).map(|(name, _)| name.as_str()).collect();
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
fn cover<'a>(status: &str, all: &All<'a>) -> Option<&'a Value> {
    let range = status.get(..1).map(|class| format!("{class}XX"));
    let is_alike = is_success("default", all) == is_success(status, all);
    let default = all.get("default").filter(|_| is_alike);
    range.and_then(|range| all.get(range.as_str())).or(default).copied()
}
