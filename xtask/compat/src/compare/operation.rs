//! What changed between the operations of two documents.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{Comparison, Here, keywords, members};
use crate::change::Told;
use crate::kind::{Direction, Kind};
use crate::normalise::{AT, Model, Operation, meaning};

impl Comparison<'_> {
    pub(super) fn operations(&mut self) {
        let (old, new) = (self.old, self.new);
        // A path of the servers may be part of the paths now, or the reverse.
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

    /// An operation of one document.
    fn one(&mut self, operation: &Operation, kind: Kind) {
        let node = self.graph.root(&operation.name, Direction::REQUEST);
        let place = operation.json[AT].as_str().unwrap_or_default();
        let name = Some(Told::text(&operation.name));
        let (old, new) = if kind == Kind::OperationAdded { (None, name) } else { (name, None) };
        self.say(&Here::at(place, place, node), kind, old, new);
    }

    /// An operation of both documents. One that moved has the same URLs by other means.
    fn both(&mut self, old: &Operation, new: &Operation, has_moved: bool) {
        let [request, response] = [Direction::REQUEST, Direction::RESPONSE]
            .map(|direction| Here::at("", "", self.graph.root(&old.name, direction)));
        self.operation(&request, &response, &old.json, &new.json);
        let [was, is] = [old, new].map(|one| &one.json["servers"]);
        let here = request.of(Some(was), Some(is));
        let [was, is] = [was, is].map(|servers| &servers["all"]);
        if !old.addresses.is_subset(&new.addresses) {
            let told = |servers: &Value| Some(Told::text(&urls(servers).join(", ")));
            self.say(&here, Kind::Address, told(was), told(is));
        } else if !has_moved {
            self.value(&here, Kind::Server, Some(was), Some(is));
        }
    }

    fn operation(&mut self, request: &Here, response: &Here, old: &Value, new: &Value) {
        let [request, response] = [request, response].map(|here| here.of(Some(old), Some(new)));
        // The answer of a websocket is its handshake: 101, whether the document says so or not.
        let is_websocket = [old, new].iter().all(|one| one.get(WEBSOCKET).is_some());
        for (name, old, new) in keywords(Some(old), Some(new)) {
            let here = request.below(name);
            match name {
                "callbacks" => self.callbacks(&request, &response, old, new),
                "operationId" => self.value(&here, Kind::OperationId, old, new),
                "parameters" => self.fields(&here, old, new),
                "path" => {
                    for (name, was, is) in keywords(old, new) {
                        self.other(&here.of(old, new).below(name), name, was, is);
                    }
                }
                "requestBody" => self.field(&here, old, new),
                "responses" => self.responses(&response.below(name), is_websocket, old, new),
                "security" => self.security(&here, old, new),
                "servers" => {}
                "tags" => self.value(&here, Kind::Tag, old, new),
                "x-dropshot-pagination" if old.is_some() != new.is_some() => {
                    self.value(&here, Kind::Pagination, old, new);
                }
                WEBSOCKET => self.value(&here, Kind::Websocket, old, new),
                _ => self.other(&here, name, old, new),
            }
        }
    }

    /// What the service calls: it sends the requests, and the client the responses.
    fn callbacks(
        &mut self,
        request: &Here,
        response: &Here,
        old: Option<&Value>,
        new: Option<&Value>,
    ) {
        for (name, old, new) in members(old, new) {
            let here = request.below("callbacks").of(old, new);
            match (old, new) {
                (Some(old), Some(new)) if old.is_object() && new.is_object() => {
                    self.operation(response, request, old, new);
                }
                _ => {
                    let [old, new] = [old, new].map(|one| one.map(|_| Told::text(name)));
                    self.say(&here, Kind::Callback, old, new);
                }
            }
        }
    }

    fn security(&mut self, here: &Here, old: Option<&Value>, new: Option<&Value>) {
        let here = here.of(old, new);
        let sets = |value: Option<&Value>| -> BTreeSet<BTreeSet<String>> {
            let all = value.and_then(|value| value["all"].as_array()).into_iter().flatten();
            let texts = |set: &Value| -> BTreeSet<String> {
                let schemes = set.as_array().into_iter().flatten();
                schemes.filter_map(Value::as_str).map(str::to_owned).collect()
            };
            all.map(texts).collect()
        };
        let (before, after) = (sets(old), sets(new));
        // A client may do without an address at which it could get another token.
        let is_refresh = |text: &String| text.contains(" refreshUrl ");
        let lets_in = |old: &BTreeSet<String>| {
            let had_refresh = old.iter().any(is_refresh);
            let fits = |one: &String| old.contains(one) || !had_refresh && is_refresh(one);
            after.iter().any(|new| new.iter().all(fits))
        };
        let loosened = before.iter().all(lets_in);
        let kind = if loosened { Kind::SecurityLoosened } else { Kind::SecurityTightened };
        let told = |sets: &BTreeSet<BTreeSet<String>>, others: &BTreeSet<BTreeSet<String>>| {
            let only = sets.difference(others).map(|set| match set.is_empty() {
                true => "anybody".to_owned(),
                false => Vec::from_iter(set.clone()).join(" and "),
            });
            let only: Vec<String> = only.collect();
            (!only.is_empty()).then(|| Told::text(&only.join(", or ")))
        };
        if before != after {
            self.say(&here, kind, told(&before, &after), told(&after, &before));
        }
    }

    /// The parameters of an operation, or the headers of a response.
    pub(super) fn fields(&mut self, here: &Here, old: Option<&Value>, new: Option<&Value>) {
        for (key, old, new) in members(old, new) {
            let here = here.below(key);
            if let (true, Some(old), Some(new)) = (key.starts_with("path "), old, new) {
                let here = here.below("name");
                self.value(&here, Kind::PathParameterRenamed, old.get("name"), new.get("name"));
            }
            self.field(&here, old, new);
        }
    }

    /// A parameter, a header or a body: what it has is its `schema` or its `content`.
    fn field(&mut self, here: &Here, old: Option<&Value>, new: Option<&Value>) {
        let here = &here.of(old, new);
        let (Some(one), Some(other)) = (old, new) else {
            let is_required = old.or(new).is_some_and(is_required);
            return self.in_one(here, old.map(held), new.map(held), is_required);
        };
        if one.get("schema").is_some() != other.get("schema").is_some() {
            return self.value(here, Kind::Encoding, old.map(held), new.map(held));
        }
        self.required(&here.below("required"), is_required(one), is_required(other));
        let [was, is] =
            [(self.old, one), (self.new, other)].map(|(model, field)| form(model, field));
        if let (Some(was), Some(is)) = (was, is)
            && was != is
        {
            let here = here.below(if was.starts_with(&is[..1]) { "explode" } else { "style" });
            self.say(
                &here,
                Kind::Encoding,
                Some(Told::text(&was.join(" "))),
                Some(Told::text(&is.join(" "))),
            );
        }
        for (name, old, new) in keywords(old, new) {
            let here = here.below(name);
            match (name, old, new) {
                ("in" | "name" | "required" | "encoding", _, _) => {}
                ("allowReserved", _, _) if has_no_reserved(self.new, other) => {}
                ("allowEmptyValue" | "allowReserved", None, _) => {
                    self.value(&here, Kind::EncodingAdded, old, new);
                }
                ("allowEmptyValue" | "allowReserved", _, _) => {
                    self.value(&here, Kind::Encoding, old, new);
                }
                // A query or a path is text: a number is a text, too.
                ("schema", Some(old), Some(new)) if becomes_text(old, new) => {
                    self.value(&here, Kind::TypeWidened, Some(old), Some(new));
                }
                ("schema", Some(old), Some(new)) => self.schema(&here, old, new),
                ("content", _, _) => self.content(&here, old, new),
                _ => self.other(&here, name, old, new),
            }
        }
    }
}

const WEBSOCKET: &str = "x-dropshot-websocket";

/// The operations that the other document does not have, by method and the paths of their URLs.
fn only<'a>(
    model: &'a Model,
    other: &Model,
) -> BTreeMap<(&'static str, &'a BTreeSet<String>), &'a Operation> {
    let only = model.operations.iter().filter(|(key, _)| !other.operations.contains_key(*key));
    only.map(|(key, operation)| ((key.1, &operation.addresses), operation)).collect()
}

/// How a value of a parameter or a header becomes text: its style, and whether it explodes, as far
/// as that changes the text (Parameter Object, style examples). None if nothing does.
fn form(model: &Model, field: &Value) -> Option<Vec<String>> {
    let encoding = field.get("encoding")?;
    let style = encoding["style"].as_str().unwrap_or_default().to_owned();
    let explodes = format!("explode: {}", encoding["explode"]);
    let schema = model.resolved(&field["schema"]).unwrap_or_default();
    match schema["type"].as_str() {
        Some("boolean" | "integer" | "number" | "string") if field["in"] == "path" => {
            Some(vec![style])
        }
        Some("boolean" | "integer" | "number" | "string") => None,
        Some("array") if style == "simple" || style == "label" => Some(vec![style]),
        _ if style == "deepObject" => Some(vec![style]),
        _ => Some(vec![style, explodes]),
    }
}

/// Whether no value of a parameter has a character that `allowReserved` is about.
fn has_no_reserved(model: &Model, field: &Value) -> bool {
    let schema = model.resolved(&field["schema"]).unwrap_or_default();
    ["boolean", "integer"].iter().any(|kind| schema["type"] == **kind)
}

/// The URLs of a list of servers.
fn urls(servers: &Value) -> Vec<&str> {
    let urls: Vec<&str> = servers
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|server| server["url"].as_str())
        .collect();
    if urls.is_empty() { vec!["/"] } else { urls }
}

/// Whether a number or a bool becomes any text, or a list of such ones.
fn becomes_text(old: &Value, new: &Value) -> bool {
    let was_no_text = ["boolean", "integer", "number"].iter().any(|kind| old["type"] == **kind);
    was_no_text
        && (meaning(new) == json!({ "type": "string" })
            || new.get("items").map(meaning) == Some(meaning(old)))
}

/// What a parameter, a header or a body has.
fn held(field: &Value) -> &Value {
    field.get("schema").unwrap_or(&field["content"])
}

fn is_required(one: &Value) -> bool {
    one.get("required") == Some(&Value::Bool(true))
}
