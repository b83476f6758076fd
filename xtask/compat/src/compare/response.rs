//! What changed between the responses of two operations.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Comparison, Here, keywords, members};
use crate::change::Told;
use crate::kind::Kind;

/// The responses of an operation by status.
type All<'a> = BTreeMap<&'a str, &'a Value>;

impl Comparison<'_> {
    /// The responses by status. The answer of a websocket is its handshake: 101, whether the
    /// document says so or not.
    pub(super) fn responses(
        &mut self,
        here: &Here,
        is_websocket: bool,
        old: Option<&Value>,
        new: Option<&Value>,
    ) {
        let mut all = [All::new(), All::new()];
        for (status, old, new) in members(old, new) {
            if status.starts_with("x-") {
                self.other(&here.below(status), status, old, new);
            } else if !is_websocket
                || !["default", "101"].contains(&status)
                || old.is_some() == new.is_some()
            {
                all[0].extend(old.map(|old| (status, old)));
                all[1].extend(new.map(|new| (status, new)));
            }
        }
        self.by_status(here, &all[0], &all[1]);
    }

    fn by_status(&mut self, here: &Here, old: &All<'_>, new: &All<'_>) {
        let successes = |one: &All<'_>, other: &All<'_>| {
            let only = one.keys().filter(|&status| !other.contains_key(status));
            let good = only.filter(|status| is_success(status, one));
            good.map(|status| (*status).to_owned()).collect::<Vec<String>>()
        };
        let mut moved = [String::new(), String::new()];
        if let ([gone], [came]) = (&successes(old, new)[..], &successes(new, old)[..]) {
            let kind = if covers(gone, came) { Kind::SuccessNamed } else { Kind::SuccessStatus };
            let [from, to] = [gone, came].map(|status| Some(Told::text(status)));
            self.say(here, kind, from, to);
            let (old, new) = (old[gone.as_str()], new[came.as_str()]);
            // Whether there is a body follows from the status.
            if [old, new].iter().all(|response| response.get("content").is_some()) {
                self.response(&here.below(gone), old, new);
            }
            moved = [gone.clone(), came.clone()];
        }
        for &status in old.keys().chain(new.keys()).collect::<BTreeSet<_>>() {
            let here = here.below(status);
            // A status that is not named is that of its range, or the default one.
            let before = old.get(status).copied().or_else(|| cover(status, old));
            let after = new.get(status).copied().or_else(|| cover(status, new));
            let is_named = new.keys().any(|other| *other != status && covers(status, other));
            let (is_gone, is_new) = (!new.contains_key(status), !old.contains_key(status));
            let told = |response| Some(Told::text(&content(response)));
            match (before, after) {
                _ if moved.iter().any(|moved| moved == status) => {}
                (Some(old_response), Some(new_response)) => {
                    let is_good = is_success(status, old) || is_success(status, new);
                    if is_gone {
                        let kind = if is_good { Kind::SuccessNamed } else { Kind::RefusalRemoved };
                        self.say(&here, kind, told(old_response), None);
                    } else if is_new {
                        let kind = if is_good { Kind::SuccessNamed } else { Kind::RefusalAdded };
                        self.say(&here, kind, None, told(new_response));
                    }
                    self.response(&here, old_response, new_response);
                }
                // Its statuses have names now.
                (Some(_), _) if is_named && status != "default" => {}
                (Some(response), _) => {
                    let kind = match is_success(status, old) {
                        true => Kind::SuccessRemoved,
                        false => Kind::RefusalRemoved,
                    };
                    self.say(&here, kind, told(response), None);
                }
                (_, Some(response)) => {
                    let kind = match is_success(status, new) {
                        true if old.is_empty() => Kind::AnswerAdded,
                        true => Kind::SuccessAdded,
                        false => Kind::RefusalAdded,
                    };
                    self.say(&here, kind, None, told(response));
                }
                (None, None) => {}
            }
        }
    }

    fn response(&mut self, here: &Here, old: &Value, new: &Value) {
        let here = here.of(Some(old), Some(new));
        for (name, old, new) in keywords(Some(old), Some(new)) {
            let here = here.below(name);
            match (name, old, new) {
                ("content", Some(_), Some(_)) => self.content(&here, old, new),
                ("content", None, new) => {
                    self.say(&here, Kind::AnswerAdded, None, new.map(Told::of));
                }
                ("content", old, None) => self.say(&here, Kind::Removed, old.map(Told::of), None),
                ("headers", _, _) => self.fields(&here, old, new),
                ("links", _, _) => self.value(&here, Kind::Link, old, new),
                _ => self.other(&here, name, old, new),
            }
        }
    }
}

/// Which media types a response has, as a person reads it.
fn content(response: &Value) -> String {
    let content = response.get("content").and_then(Value::as_object);
    let names: Vec<&str> = content.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    if names.is_empty() { "no content".to_owned() } else { names.join(", ") }
}

/// Whether a client takes the status for a success: also the default one, if no other is. Only a
/// client that asks for a part, or for what changed, receives 206 and 304 (RFC 9110, sections 13
/// and 14).
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
