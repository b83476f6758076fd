//! What changed between the operations of two documents.

use std::collections::{BTreeMap, BTreeSet};

use super::{Comparison, Here, Place, joined, told};
use crate::kind::{Direction, Kind};
use crate::model::{Body, Field, Media, Operation, Response};

/// The responses of an operation by status.
type All<'a> = BTreeMap<&'a str, &'a Response>;

/// The nodes of an operation: what its request has, and what its response has.
#[derive(Clone, Copy)]
struct Sides<'a> {
    request: Here<'a>,
    response: Here<'a>,
}

impl<'a> Comparison<'a> {
    pub(super) fn operations(&mut self) {
        let keys: BTreeSet<_> =
            self.old.operations.keys().chain(self.new.operations.keys()).collect();
        for key in keys {
            let both = (self.old.operations.get(key), self.new.operations.get(key));
            let Some(one) = both.0.or(both.1) else { continue };
            let request = self.graph.root(&one.name, Direction::REQUEST);
            let response = self.graph.root(&one.name, Direction::RESPONSE);
            let sides = Sides {
                request: Here::at(&one.place, request),
                response: Here::at(&one.place, response),
            };
            match both {
                (Some(old), Some(new)) => self.operation(sides, old, new),
                (Some(old), None) => {
                    self.say(sides.request, Kind::OperationRemoved, Some(old.name.clone()), None);
                }
                (_, new) => {
                    let name = new.map(|new| new.name.clone());
                    self.say(sides.request, Kind::OperationAdded, None, name);
                }
            }
        }
    }

    fn operation(&mut self, sides: Sides<'_>, old: &'a Operation, new: &'a Operation) {
        let here = sides.request;
        self.value(here.below("operationId"), Kind::OperationId, old.id.clone(), new.id.clone());
        if old.deprecated != new.deprecated {
            let [old, new] = [old, new].map(|one| Some(one.deprecated.to_string()));
            self.say(here.below("deprecated"), Kind::Deprecation, old, new);
        }
        let [one, other] = [old, new].map(|one| Some(joined(&one.tags, ", ")));
        self.value(here.below("tags"), Kind::Tag, one, other);
        let [one, other] = [old, new].map(|one| one.pagination.clone());
        let kind = match one.is_some() == other.is_some() {
            true => Kind::Extension,
            false => Kind::Pagination,
        };
        self.value(here.below("x-dropshot-pagination"), kind, one, other);
        let [one, other] = [old, new].map(|one| one.websocket.clone());
        self.value(here.below("x-dropshot-websocket"), Kind::Websocket, one, other);
        let [one, other] = [old, new].map(|one| one.callbacks.clone());
        self.value(here.below("callbacks"), Kind::Callback, one, other);
        self.security(here, old, new);
        self.servers(here, old, new);
        self.parameters(here, old, new);
        self.body(here.below("requestBody"), old.body.as_ref(), new.body.as_ref());
        let responses = sides.response.below("responses");
        // The answer of a websocket is its handshake: 101, whether the document says so or not.
        let is_websocket = old.websocket.is_some() && new.websocket.is_some();
        let is_judged = |status: &str| {
            let is_in_both = [old, new].iter().all(|one| one.responses.contains_key(status));
            !is_websocket || is_in_both || !["default", "101"].contains(&status)
        };
        let [old, new]: [All<'a>; 2] = [old, new].map(|one| {
            let all = one.responses.iter().map(|(status, response)| (status.as_str(), response));
            all.filter(|(status, _)| is_judged(status)).collect()
        });
        self.responses(responses, &old, &new);
    }

    fn security(&mut self, here: Here<'_>, old: &Operation, new: &Operation) {
        if old.security.value == new.security.value {
            return;
        }
        let lets_in =
            |old: &BTreeSet<String>| new.security.value.iter().any(|new| new.is_subset(old));
        let loosened = old.security.value.iter().all(lets_in);
        let kind = if loosened { Kind::SecurityLoosened } else { Kind::SecurityTightened };
        let here = Here { place: Place::At(&new.security.place), ..here };
        self.say(here, kind, Some(told(&old.security.value)), Some(told(&new.security.value)));
    }

    fn servers(&mut self, here: Here<'_>, old: &Operation, new: &Operation) {
        let here = Here { place: Place::At(&new.servers.place), ..here };
        // `/`, the place of the document itself, is what a document without servers means.
        let [old, new] = [&old.servers.value, &new.servers.value];
        for server in old.difference(new).filter(|server| *server != "/") {
            self.say(here, Kind::ServerRemoved, Some(server.clone()), None);
        }
        for server in new.difference(old).filter(|server| *server != "/") {
            self.say(here, Kind::ServerAdded, None, Some(server.clone()));
        }
    }

    fn parameters(&mut self, here: Here<'_>, old: &'a Operation, new: &'a Operation) {
        let keys = old.parameters.keys().chain(new.parameters.keys()).collect::<BTreeSet<_>>();
        for key in keys {
            match (old.parameters.get(key), new.parameters.get(key)) {
                (Some(old), Some(new)) => {
                    let here = Here { place: Place::At(&old.place), ..here };
                    if key.0 == "path" {
                        let [old, new] = [old, new].map(|one| Some(one.name.clone()));
                        self.value(here.below("name"), Kind::PathParameterRenamed, old, new);
                    }
                    let kinds = (Kind::ParameterRequired, Kind::ParameterOptional);
                    self.field(here, kinds, old, new);
                }
                (Some(old), None) => {
                    let here = Here { place: Place::At(&old.place), ..here };
                    self.say(here, Kind::ParameterRemoved, Some(field_text(old)), None);
                }
                (_, Some(new)) => {
                    let here = Here { place: Place::At(&new.place), ..here };
                    let kind = match new.required {
                        true => Kind::RequiredParameterAdded,
                        false => Kind::ParameterAdded,
                    };
                    self.say(here, kind, None, Some(field_text(new)));
                }
                (None, None) => {}
            }
        }
    }

    /// A parameter or a header.
    fn field(
        &mut self,
        here: Here<'_>,
        (required, optional): (Kind, Kind),
        old: &'a Field,
        new: &'a Field,
    ) {
        if old.required != new.required {
            let kind = if new.required { required } else { optional };
            let [old, new] = [old, new].map(|one| Some(one.required.to_string()));
            self.say(here.below("required"), kind, old, new);
        }
        if old.deprecated != new.deprecated {
            let [old, new] = [old, new].map(|one| Some(one.deprecated.to_string()));
            self.say(here.below("deprecated"), Kind::Deprecation, old, new);
        }
        let [one, other] = [old, new].map(|one| Some(one.encoding.clone()));
        self.value(here, Kind::Encoding, one, other);
        self.schema(here.below("schema"), &old.schema, &new.schema);
    }

    fn body(&mut self, here: Here<'_>, old: Option<&'a Body>, new: Option<&'a Body>) {
        match (old, new) {
            (Some(old), Some(new)) => {
                let here = Here { place: Place::At(&old.place), ..here };
                if old.required != new.required {
                    let kind = if new.required { Kind::BodyRequired } else { Kind::BodyOptional };
                    let [old, new] = [old, new].map(|one| Some(one.required.to_string()));
                    self.say(here.below("required"), kind, old, new);
                }
                self.content(here.below("content"), &old.content, &new.content);
            }
            (None, Some(new)) => {
                let kind = if new.required { Kind::RequiredBodyAdded } else { Kind::BodyAdded };
                self.say(here, kind, None, Some(media_text(&new.content)));
            }
            (Some(old), None) => {
                self.say(here, Kind::BodyRemoved, Some(media_text(&old.content)), None);
            }
            (None, None) => {}
        }
    }

    fn content(
        &mut self,
        here: Here<'_>,
        old: &'a BTreeMap<String, Media>,
        new: &'a BTreeMap<String, Media>,
    ) {
        for (name, old) in old {
            let Some(new) = new.get(name) else { continue };
            let here = here.below(name);
            let [one, other] = [old, new].map(|one| Some(one.encoding.clone()));
            self.value(here.below("encoding"), Kind::Encoding, one, other);
            self.schema(here.below("schema"), &old.schema, &new.schema);
        }
        let gone: Vec<_> = old.keys().filter(|name| !new.contains_key(*name)).collect();
        let came: Vec<_> = new.keys().filter(|name| !old.contains_key(*name)).collect();
        if let ([gone], [came]) = (&gone[..], &came[..]) {
            self.say(here, Kind::MediaType, Some((*gone).clone()), Some((*came).clone()));
            return;
        }
        for name in gone {
            self.say(here.below(name), Kind::MediaTypeRemoved, Some(told(&old[name].schema)), None);
        }
        for name in came {
            self.say(here.below(name), Kind::MediaTypeAdded, None, Some(told(&new[name].schema)));
        }
    }

    fn responses(&mut self, here: Here<'_>, old: &All<'a>, new: &All<'a>) {
        let successes = |one: &All<'a>, other: &All<'a>| {
            let only = one.keys().filter(|&status| !other.contains_key(status));
            only.filter(|status| is_success(status, one)).copied().collect::<Vec<&str>>()
        };
        let mut moved = ["", ""];
        if let ([gone], [came]) = (&successes(old, new)[..], &successes(new, old)[..])
            && ![gone, came].contains(&&"default")
        {
            let [before, now] = [gone, came].map(|status| Some((*status).to_owned()));
            self.say(here, Kind::SuccessStatus, before, now);
            self.response(here.below(gone), old[gone], new[came]);
            moved = [gone, came];
        }
        for &status in old.keys().chain(new.keys()).collect::<BTreeSet<_>>() {
            let here = here.below(status);
            // A status that is not named is that of its range, or the default one.
            match (old.get(status), new.get(status)) {
                (Some(old), Some(new)) => self.response(here, old, new),
                _ if moved.contains(&status) => {}
                (Some(one), None) => {
                    if let Some(new) = cover(status, new) {
                        self.response(here, one, new);
                        continue;
                    }
                    let kind = match is_success(status, old) {
                        true => Kind::SuccessRemoved,
                        false => Kind::RefusalRemoved,
                    };
                    self.say(here, kind, Some(media_text(&one.content)), None);
                }
                (_, Some(one)) => {
                    if let Some(old) = cover(status, old) {
                        self.response(here, old, one);
                        continue;
                    }
                    let kind = match is_success(status, new) {
                        true => Kind::SuccessAdded,
                        false => Kind::RefusalAdded,
                    };
                    self.say(here, kind, None, Some(media_text(&one.content)));
                }
                (None, None) => {}
            }
        }
    }

    fn response(&mut self, here: Here<'_>, old: &'a Response, new: &'a Response) {
        let place = here.place.text();
        let is_own = old.place.starts_with("#/paths");
        let here = Here { place: Place::At(if is_own { &place } else { &old.place }), ..here };
        match (old.content.is_empty(), new.content.is_empty()) {
            (true, false) => {
                self.say(
                    here.below("content"),
                    Kind::AnswerAdded,
                    None,
                    Some(media_text(&new.content)),
                );
            }
            (false, true) => {
                self.say(
                    here.below("content"),
                    Kind::BodyRemoved,
                    Some(media_text(&old.content)),
                    None,
                );
            }
            _ => self.content(here.below("content"), &old.content, &new.content),
        }
        for name in old.headers.keys().chain(new.headers.keys()).collect::<BTreeSet<_>>() {
            let headers = here.below("headers");
            let here = headers.below(name);
            match (old.headers.get(name), new.headers.get(name)) {
                (Some(old), Some(new)) => {
                    self.field(here, (Kind::HeaderRequired, Kind::HeaderOptional), old, new);
                }
                (Some(old), None) => {
                    self.say(here, Kind::HeaderRemoved, Some(field_text(old)), None);
                }
                (None, new) => self.say(here, Kind::HeaderAdded, None, new.map(field_text)),
            }
        }
        self.value(here.below("links"), Kind::Link, old.links.clone(), new.links.clone());
    }
}

/// Whether a client takes the status for a success: also the default one, if no other is.
fn is_success(status: &str, all: &All<'_>) -> bool {
    let is_good = |status: &str| status.starts_with(['2', '3']);
    is_good(status) || status == "default" && !all.keys().any(|status| is_good(status))
}

/// The response of a status that has no entry of its own.
fn cover<'a>(status: &str, all: &All<'a>) -> Option<&'a Response> {
    let range = status.get(..1).map(|class| format!("{class}XX"));
    let is_for_refusals = !is_success("default", all) && !is_success(status, all);
    let default = all.get("default").filter(|_| is_for_refusals);
    range.and_then(|range| all.get(range.as_str())).or(default).copied()
}

fn media_text(content: &BTreeMap<String, Media>) -> String {
    let media: Vec<String> =
        content.iter().map(|(name, media)| format!("{name} {}", told(&media.schema))).collect();
    media.join(", ")
}

fn field_text(field: &Field) -> String {
    format!("{}{}", told(&field.schema), if field.required { ", required" } else { "" })
}
