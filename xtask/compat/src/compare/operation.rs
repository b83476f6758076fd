//! Compares operations, their security requirements, servers, parameters and request bodies.

use std::collections::{BTreeMap, BTreeSet};

use super::Comparison;
use super::graph::Spot;
use crate::Document;
use crate::change::Shown;
use crate::kind::{Direction, Kind};
use crate::model::{Field, FieldValue, Model, Operation, Security, Servers};

impl Comparison<'_> {
    pub(super) fn operations(&mut self) {
        let (old, new) = (&self.old.model, &self.new.model);
        // A prefix of the paths may have moved into the URLs of the servers, or the reverse.
        let (removed, added) = (only(old, new), only(new, old));
        for (key, was) in &old.operations {
            match new.operations.get(key) {
                Some(is) => self.operation(was, is, false),
                None => match added.get(&(key.1, &was.url_paths)) {
                    Some(is) => self.operation(was, is, true),
                    None => self.operation_in_one(was, Kind::OperationRemoved),
                },
            }
        }
        for (key, is) in added {
            if !removed.contains_key(&key) {
                self.operation_in_one(is, Kind::OperationAdded);
            }
        }
    }

    /// Reports an operation that only one document contains.
    fn operation_in_one(&mut self, operation: &Operation, kind: Kind) {
        let node = self.graph.root(&operation.name, Direction::REQUEST);
        let place = operation.extras.place.clone();
        let name = Some(&operation.name[..]);
        let (old, new) = if kind == Kind::OperationAdded { (None, name) } else { (name, None) };
        self.report_text(&Spot::new(place.clone(), place, node), kind, old, new);
    }

    /// Compares an operation that both documents contain. If it has moved, its path and its servers
    /// changed, but not its URLs.
    fn operation(&mut self, old: &Operation, new: &Operation, has_moved: bool) {
        let [at, response] = [Direction::REQUEST, Direction::RESPONSE].map(|direction| {
            let node = self.graph.root(&old.name, direction);
            Spot::new(old.extras.place.clone(), new.extras.place.clone(), node)
        });
        let Operation {
            name: _,
            url_paths,
            security,
            servers,
            parameters,
            body,
            responses,
            extras,
            path_extras,
            responses_extras,
        } = old;
        let places = [security, &new.security].map(|security| Some(security.place.clone()));
        let [old_place, new_place] = places;
        self.security(&at.placed(old_place, new_place), security, &new.security);
        self.fields(&at.below("parameters"), parameters, &new.parameters);
        self.field(&at.below("requestBody"), body.as_ref(), new.body.as_ref());
        let responses_at = response.below("responses");
        self.extras(&responses_at, responses_extras, &new.responses_extras);
        self.responses(&responses_at, responses, &new.responses);
        // In a callback, the service sends the request, and the client sends the response.
        for name in extras.whole.get("callbacks").iter().flat_map(|whole| &whole.references) {
            self.queue(&response, name, name);
        }
        self.extras(&at, extras, &new.extras);
        let path_at =
            at.placed(Some(path_extras.place.clone()), Some(new.path_extras.place.clone()));
        self.extras(&path_at, path_extras, &new.path_extras);
        let servers_at = at.placed(Some(servers.place.clone()), Some(new.servers.place.clone()));
        let has_other_urls = !url_paths.is_subset(&new.url_paths);
        if has_other_urls || !has_moved && servers.all != new.servers.all {
            let kind = if has_other_urls { Kind::Address } else { Kind::Server };
            let [was, is] = [servers, &new.servers].map(urls);
            self.report_text(&servers_at, kind, Some(&was), Some(&is));
        }
    }

    /// Compares the security requirements, of which a request has to satisfy one.
    fn security(&mut self, at: &Spot, old: &Security, new: &Security) {
        let (before, after) = (&old.requirements, &new.requirements);
        if before == after {
            return;
        }
        let is_still_enough = |old: &BTreeSet<String>| after.iter().any(|new| new.is_subset(old));
        let is_loosened = before.iter().all(is_still_enough);
        let kind = if is_loosened { Kind::SecurityLoosened } else { Kind::SecurityTightened };
        let [removed, added] = [before - after, after - before].map(|requirements| {
            let shown = requirements.into_iter().map(|schemes| {
                if schemes.is_empty() {
                    "anybody".to_owned()
                } else {
                    Vec::from_iter(schemes).join(" and ")
                }
            });
            shown.reduce(|all, one| all + ", or " + &one)
        });
        self.report_text(at, kind, removed.as_deref(), added.as_deref());
    }

    /// Compares the parameters of an operation, or the headers of a response.
    pub(super) fn fields(
        &mut self,
        at: &Spot,
        old: &BTreeMap<String, Field>,
        new: &BTreeMap<String, Field>,
    ) {
        for key in old.keys().chain(new.keys()).collect::<BTreeSet<_>>() {
            let at = at.below(key);
            self.field(&at, old.get(key), new.get(key));
        }
    }

    /// Compares a parameter, a header or a request body.
    fn field(&mut self, at: &Spot, old: Option<&Field>, new: Option<&Field>) {
        let place = |field: &Field| field.extras.place.clone();
        let at = at.placed(old.map(place), new.map(place));
        let (Some(old), Some(new)) = (old, new) else {
            if old.or(new).is_none() {
                return;
            }
            let is_required = old.or(new).is_some_and(|field| field.is_required);
            let old = old.map(|field| shown(self.old, field));
            let new = new.map(|field| shown(self.new, field));
            return self.in_one(&at, is_required, old, new);
        };
        let Field { name, in_, is_required, value, extras } = old;
        if &**in_ == "path" && *name != new.name {
            let at = at.below("name");
            self.report_text(&at, Kind::PathParameterRenamed, Some(name), Some(&new.name));
        }
        match (value, &new.value) {
            (FieldValue::Content(old), FieldValue::Content(new)) => {
                let at = at.below("content");
                self.content(&at, old, new);
            }
            (
                FieldValue::Schema { schema: old, style: was },
                FieldValue::Schema { schema: new, style: is },
            ) => {
                self.schema(&at.below("schema"), old, new);
                if was != is {
                    self.report_text(&at.below("style"), Kind::Encoding, Some(was), Some(is));
                }
            }
            _ => {
                let (old, new) = (shown(self.old, old), shown(self.new, new));
                return self.report(&at, Kind::Encoding, Some(old), Some(new));
            }
        }
        let required_at = at.below("required");
        self.required(&required_at, *is_required, new.is_required);
        self.extras(&at, extras, &new.extras);
    }
}

/// The operations that the other document does not have, by method and the paths of their URLs.
fn only<'a>(
    model: &'a Model,
    other: &Model,
) -> BTreeMap<(&'static str, &'a BTreeSet<String>), &'a Operation> {
    let only = model.operations.iter().filter(|(key, _)| !other.operations.contains_key(*key));
    only.map(|(key, operation)| ((key.1, &operation.url_paths), operation)).collect()
}

/// Shows the schema of a field, or its media types.
fn shown(document: &Document, field: &Field) -> Shown {
    match &field.value {
        FieldValue::Schema { schema, .. } => document.shown(schema),
        FieldValue::Content(content) => {
            let names: Vec<&str> = content.keys().map(String::as_str).collect();
            Shown::text(&names.join(", "))
        }
    }
}

/// The URLs of a list of servers.
fn urls(servers: &Servers) -> String {
    let Servers { all, place: _ } = servers;
    if all.is_empty() { "/".to_owned() } else { all.iter().cloned().collect::<Vec<_>>().join(", ") }
}
