//! What changed between the operations of two documents.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::Comparison;
use super::graph::Spot;
use crate::Document;
use crate::change::Shown;
use crate::kind::{Direction, Kind};
use crate::model::{Carried, Field, Model, Operation, Schema, Security, Servers};

impl Comparison<'_> {
    pub(super) fn operations(&mut self) {
        let (old, new) = (&self.old.model, &self.new.model);
        // A path of the servers may have become a part of the paths, or the reverse.
        let (gone, came) = (only(old, new), only(new, old));
        for (key, was) in &old.operations {
            match new.operations.get(key) {
                Some(is) => self.both(was, is, false),
                None => match came.get(&(key.1, &was.addresses)) {
                    Some(is) => self.both(was, is, true),
                    None => self.one(was, Kind::OperationRemoved),
                },
            }
        }
        for (key, is) in came {
            if !gone.contains_key(&key) {
                self.one(is, Kind::OperationAdded);
            }
        }
    }

    /// Reports an operation that only one document contains.
    fn one(&mut self, operation: &Operation, kind: Kind) {
        let node = self.graph.root(&operation.name, Direction::REQUEST);
        let place = operation.notes.place.0.clone();
        let name = Some(&operation.name[..]);
        let (old, new) = if kind == Kind::OperationAdded { (None, name) } else { (name, None) };
        self.report_text(&Spot::new(place.clone(), place, node), kind, old, new);
    }

    /// Compares an operation that both documents contain. One that moved has the same URLs under
    /// another combination of server and path.
    fn both(&mut self, old: &Operation, new: &Operation, has_moved: bool) {
        let [at, response] = [Direction::REQUEST, Direction::RESPONSE].map(|direction| {
            let node = self.graph.root(&old.name, direction);
            Spot::new(old.notes.place.0.clone(), new.notes.place.0.clone(), node)
        });
        let Operation {
            name: _,
            addresses,
            security,
            servers,
            parameters,
            body,
            responses,
            notes,
            path,
            answers,
        } = old;
        self.security(
            &at.at(Some(security.place.clone()), Some(new.security.place.clone())),
            security,
            &new.security,
        );
        self.fields(&at.below("parameters"), parameters, &new.parameters);
        self.field(&at.below("requestBody"), body.as_ref(), new.body.as_ref());
        let responses_at = response.below("responses");
        self.notes(&responses_at, answers, &new.answers);
        let is_websocket = |one: &Operation| one.notes.whole.contains_key("x-dropshot-websocket");
        let is_websocket = is_websocket(old) && is_websocket(new);
        self.responses(&responses_at, is_websocket, responses, &new.responses);
        // The service sends the requests of a callback, and the client the responses.
        for name in notes.whole.get("callbacks").iter().flat_map(|whole| &whole.references) {
            self.lead(&response, name, name);
        }
        self.notes(&at, notes, &new.notes);
        self.notes(
            &at.at(Some(path.place.0.clone()), Some(new.path.place.0.clone())),
            path,
            &new.path,
        );
        let servers_at = at.at(Some(servers.place.clone()), Some(new.servers.place.clone()));
        let is_moved = !addresses.is_subset(&new.addresses);
        if is_moved || !has_moved && servers.all != new.servers.all {
            let kind = if is_moved { Kind::Address } else { Kind::Server };
            let [was, is] = [servers, &new.servers].map(urls);
            self.report_text(&servers_at, kind, Some(&was), Some(&is));
        }
    }

    /// Compares the sets of schemes of which any one lets a request in.
    fn security(&mut self, at: &Spot, old: &Security, new: &Security) {
        let (before, after) = (&old.sets, &new.sets);
        if before == after {
            return;
        }
        // A client need not use an address at which it could get another token.
        let is_refresh = |text: &String| text.contains(" refreshUrl ");
        let is_still_let_in = |old: &BTreeSet<String>| {
            let had_refresh = old.iter().any(is_refresh);
            let fits = |one: &String| old.contains(one) || !had_refresh && is_refresh(one);
            after.iter().any(|new| new.iter().all(fits))
        };
        let is_loosened = before.iter().all(is_still_let_in);
        let kind = if is_loosened { Kind::SecurityLoosened } else { Kind::SecurityTightened };
        let [gone, came] = [before - after, after - before].map(|sets| {
            let sets = sets.into_iter().map(|set| match set.is_empty() {
                true => "anybody".to_owned(),
                false => Vec::from_iter(set).join(" and "),
            });
            sets.reduce(|all, set| all + ", or " + &set)
        });
        self.report_text(at, kind, gone.as_deref(), came.as_deref());
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

    /// Compares a parameter, a header or a body.
    fn field(&mut self, at: &Spot, old: Option<&Field>, new: Option<&Field>) {
        let place = |field: &Field| field.notes.place.0.clone();
        let at = at.at(old.map(place), new.map(place));
        let (Some(old), Some(new)) = (old, new) else {
            if old.or(new).is_none() {
                return;
            }
            let is_required = old.or(new).is_some_and(|field| field.is_required);
            let old = old.map(|field| shown(self.old, field));
            let new = new.map(|field| shown(self.new, field));
            return self.in_one(&at, is_required, old, new);
        };
        let Field { name, within, is_required, carried, notes } = old;
        if &**within == "path" && *name != new.name {
            let at = at.below("name");
            self.report_text(&at, Kind::PathParameterRenamed, Some(name), Some(&new.name));
        }
        let must_be_sent = *is_required || new.is_required;
        match (carried, &new.carried) {
            (Carried::Content(old), Carried::Content(new)) => {
                let at = at.below("content");
                self.content(&at, old, new);
            }
            (Carried::Text { schema: old, .. }, Carried::Text { schema: new, .. }) => {
                let at = at.below("schema").sent(must_be_sent);
                if becomes_text(old, new) {
                    // A query or a path is text, and a number is a text, too.
                    self.report_schemas(&at, Kind::TypeWidened, Some(old), Some(new));
                } else {
                    self.schema(&at, old, new);
                }
            }
            _ => {
                let (old, new) = (shown(self.old, old), shown(self.new, new));
                return self.report(&at, Kind::Encoding, Some(old), Some(new));
            }
        }
        let required_at = at.below("required");
        self.required(&required_at, *is_required, new.is_required);
        if let (Some(was), Some(is)) = (form(self.old, old), form(self.new, new))
            && was != is
        {
            let at = at.below(if was[0] == is[0] { "explode" } else { "style" });
            let [was, is] = [was, is].map(|form| form.join(" "));
            self.report_text(&at, Kind::Encoding, Some(&was), Some(&is));
        }
        self.notes(&at, notes, &new.notes);
    }
}

/// The operations that the other document lacks, by method and the paths of their URLs.
fn only<'a>(
    model: &'a Model,
    other: &Model,
) -> BTreeMap<(&'static str, &'a BTreeSet<String>), &'a Operation> {
    let only = model.operations.iter().filter(|(key, _)| !other.operations.contains_key(*key));
    only.map(|(key, operation)| ((key.1, &operation.addresses), operation)).collect()
}

/// What a parameter, a header or a body consists of.
fn shown(document: &Document, field: &Field) -> Shown {
    match &field.carried {
        Carried::Text { schema, .. } => document.shown(schema),
        Carried::Content(content) => {
            let names: Vec<&str> = content.keys().map(String::as_str).collect();
            Shown::text(&names.join(", "))
        }
    }
}

/// How a value of a parameter or a header becomes text: its style, and whether it explodes, as far
/// as they change the text (Parameter Object, style examples). None if neither changes it.
fn form(document: &Document, field: &Field) -> Option<Vec<String>> {
    let Carried::Text { schema, style, explode } = &field.carried else { return None };
    let schema = document.resolved(schema).unwrap_or_default();
    let explode_matters = match schema.kind.as_deref() {
        Some("boolean" | "integer" | "number" | "string") if &*field.within == "path" => false,
        Some("boolean" | "integer" | "number" | "string") => return None,
        Some("array") => !["simple", "label", "deepObject"].contains(&&**style),
        _ => &**style != "deepObject",
    };
    let explode = explode_matters.then(|| format!("explode: {explode}"));
    Some([style.to_string()].into_iter().chain(explode).collect())
}

/// The URLs of a list of servers.
fn urls(servers: &Servers) -> String {
    let Servers { all, place: _ } = servers;
    if all.is_empty() { "/".to_owned() } else { all.iter().cloned().collect::<Vec<_>>().join(", ") }
}

/// Whether a number or a bool becomes any text, or a list of such values.
fn becomes_text(old: &Rc<Schema>, new: &Rc<Schema>) -> bool {
    let was_no_text =
        old.kind.as_deref().is_some_and(|kind| ["boolean", "integer", "number"].contains(&kind));
    let text = Schema { kind: Some("string".into()), ..Schema::default() };
    was_no_text && (**new == text || new.items.as_ref() == Some(old))
}
