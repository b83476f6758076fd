//! Compares operations, their security requirements, servers, parameters and request bodies.

use std::collections::{BTreeMap, BTreeSet};

use super::graph::Spot;
use super::{Comparison, brief};
use crate::kind::{Direction, Kind};
use crate::model::{Field, FieldValue, Model, Operation, Requirements, Servers};

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
        let at = self.graph.root(&operation.name, Direction::REQUEST);
        let name = Some(&operation.name[..]);
        let (old, new) = if kind == Kind::OperationAdded { (None, name) } else { (name, None) };
        self.report(&at, kind, old, new);
    }

    /// Compares an operation that both documents contain. If it has moved, its path and its servers
    /// changed, but not its URLs.
    fn operation(&mut self, old: &Operation, new: &Operation, has_moved: bool) {
        let [at, response] = [Direction::REQUEST, Direction::RESPONSE]
            .map(|direction| self.graph.root(&old.name, direction));
        let Operation {
            name: _,
            url_paths,
            security,
            servers,
            parameters,
            body,
            responses,
            extras,
        } = old;
        self.security(&at.below("security"), security, &new.security);
        self.fields(&at, parameters, &new.parameters);
        self.field(&at, body.as_ref(), new.body.as_ref());
        self.responses(&response, responses, &new.responses);
        // In a callback, the service sends the request, and the client sends the response.
        for name in extras.get("callbacks").iter().flat_map(|extra| &extra.references) {
            self.queue(&response, name, name);
        }
        self.extras(&at, extras, &new.extras);
        let has_other_urls = !url_paths.is_subset(&new.url_paths);
        if has_other_urls || !has_moved && *servers != new.servers {
            let kind = if has_other_urls { Kind::Address } else { Kind::Server };
            let [was, is] = [servers, &new.servers].map(urls);
            self.report(&at.below("servers"), kind, Some(&was), Some(&is));
        }
    }

    /// Compares the security requirements, of which a request has to satisfy one.
    fn security(&mut self, at: &Spot, old: &Requirements, new: &Requirements) {
        if old == new {
            return;
        }
        let is_still_enough = |old: &BTreeSet<String>| new.iter().any(|new| new.is_subset(old));
        let is_loosened = old.iter().all(is_still_enough);
        let kind = if is_loosened { Kind::SecurityLoosened } else { Kind::SecurityTightened };
        let [removed, added] = [old - new, new - old].map(|requirements| {
            let shown = requirements.into_iter().map(|schemes| {
                if schemes.is_empty() {
                    "anybody".to_owned()
                } else {
                    Vec::from_iter(schemes).join(" and ")
                }
            });
            shown.reduce(|all, one| all + ", or " + &one)
        });
        self.report(at, kind, removed.as_deref(), added.as_deref());
    }

    /// Compares the parameters of an operation, or the headers of a response.
    pub(super) fn fields(
        &mut self,
        at: &Spot,
        old: &BTreeMap<String, Field>,
        new: &BTreeMap<String, Field>,
    ) {
        for key in old.keys().chain(new.keys()).collect::<BTreeSet<_>>() {
            self.field(at, old.get(key), new.get(key));
        }
    }

    /// Compares a parameter, a header or a request body.
    fn field(&mut self, at: &Spot, old: Option<&Field>, new: Option<&Field>) {
        let Some(field) = new.or(old) else { return };
        let at = at.below(format!("{} {}", field.in_, field.name).trim());
        let (Some(old), Some(new)) = (old, new) else {
            return self.in_one(&at, field.is_required, old.map(shown), new.map(shown));
        };
        let Field { name, in_, is_required, value, extras } = old;
        if &**in_ == "path" && *name != new.name {
            let at = at.below("name");
            self.report(&at, Kind::PathParameterRenamed, Some(name), Some(&new.name));
        }
        match (value, &new.value) {
            (FieldValue::Content(old), FieldValue::Content(new)) => {
                self.content(&at, old, new);
            }
            (
                FieldValue::Schema { schema: old, style: was },
                FieldValue::Schema { schema: new, style: is },
            ) => {
                self.schema(&at, old, new);
                if was != is {
                    self.report(&at.below("style"), Kind::Encoding, Some(was), Some(is));
                }
            }
            _ => {
                return self.report(&at, Kind::Encoding, Some(&shown(old)), Some(&shown(new)));
            }
        }
        self.required(&at, *is_required, new.is_required);
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
fn shown(field: &Field) -> String {
    match &field.value {
        FieldValue::Schema { schema, .. } => brief(schema),
        FieldValue::Content(content) => {
            let names: Vec<&str> = content.keys().map(String::as_str).collect();
            names.join(", ")
        }
    }
}

/// The URLs of a list of servers.
fn urls(servers: &Servers) -> String {
    let all: Vec<&str> = servers.iter().map(String::as_str).collect();
    if all.is_empty() { "/".to_owned() } else { all.join(", ") }
}
