//! What changed between the operations of two documents.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::cursor::Cursor;
use super::{Comparison, strings};
use crate::json::{items, text};
use crate::kind::{Direction, Kind};
use crate::normalise::{AT, Model, Operation, meaning};

impl Comparison<'_> {
    pub(super) fn operations(&mut self) {
        let (old, new) = (self.old, self.new);
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
        let place = text(&operation.json[AT]);
        let name = Some(&operation.name[..]);
        let (old, new) = if kind == Kind::OperationAdded { (None, name) } else { (name, None) };
        self.report_text(&Cursor::new(place, place, node), kind, old, new);
    }

    /// Compares an operation that both documents contain. One that moved has the same URLs under
    /// another combination of server and path.
    fn both(&mut self, old: &Operation, new: &Operation, has_moved: bool) {
        let [request, response] = [Direction::REQUEST, Direction::RESPONSE].map(|direction| {
            let node = self.graph.root(&old.name, direction);
            Cursor::new("", "", node).at(Some(&old.json), Some(&new.json))
        });
        self.operation(&request, &response);
        let servers = request.below("servers").located();
        let [was, is] = [old, new].map(|operation| &operation.json["servers"]["all"]);
        if !old.addresses.is_subset(&new.addresses) {
            let [was, is] = [was, is].map(urls);
            self.report_text(&servers, Kind::Address, Some(&was), Some(&is));
        } else if !has_moved {
            self.value(&servers.with(Some(was), Some(is)), Kind::Server);
        }
    }

    fn operation(&mut self, request: &Cursor<'_>, response: &Cursor<'_>) {
        let is_websocket =
            request.values().iter().all(|one| one.is_some_and(|one| one.get(WEBSOCKET).is_some()));
        for (name, at) in request.keywords() {
            match name {
                "callbacks" => self.callbacks(&at, response),
                "operationId" => self.value(&at, Kind::OperationId),
                "parameters" => self.fields(&at),
                "path" => at.located().keywords().for_each(|(name, at)| self.other(&at, name)),
                "requestBody" => self.field(&at),
                "responses" => self.responses(&response.below(name), is_websocket),
                "security" => self.security(&at.located()),
                "servers" => {}
                "tags" => self.value(&at, Kind::Tag),
                "x-dropshot-pagination" if at.old.is_some() != at.new.is_some() => {
                    self.value(&at, Kind::Pagination);
                }
                WEBSOCKET => self.value(&at, Kind::Websocket),
                _ => self.other(&at, name),
            }
        }
    }

    /// Compares what the service calls: it sends the requests, and the client the responses.
    fn callbacks(&mut self, at: &Cursor<'_>, response: &Cursor<'_>) {
        for (name, callback) in at.members() {
            let [old, new] = callback.values();
            if old.zip(new).is_some_and(|(old, new)| old.is_object() && new.is_object()) {
                self.operation(&response.at(old, new), &at.at(old, new));
            } else {
                let [was, is] = [old, new].map(|one| one.map(|_| name));
                self.report_text(&at.at(old, new), Kind::Callback, was, is);
            }
        }
    }

    /// Compares the sets of schemes of which any one lets a request in.
    fn security(&mut self, at: &Cursor<'_>) {
        let sets = |value: Option<&Value>| -> BTreeSet<BTreeSet<String>> {
            let all = value.map_or(&[][..], |value| items(&value["all"]));
            let set = |set| strings(set).into_iter().map(str::to_owned).collect();
            all.iter().map(set).collect()
        };
        let (before, after) = (sets(at.old), sets(at.new));
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
        let [gone, came] = [&before - &after, &after - &before].map(|sets| {
            let sets = sets.into_iter().map(|set| match set.is_empty() {
                true => "anybody".to_owned(),
                false => Vec::from_iter(set).join(" and "),
            });
            sets.reduce(|all, set| all + ", or " + &set)
        });
        self.report_text(at, kind, gone.as_deref(), came.as_deref());
    }

    /// Compares the parameters of an operation, or the headers of a response.
    pub(super) fn fields(&mut self, at: &Cursor<'_>) {
        for (key, at) in at.members() {
            if key.starts_with("path ") && at.old.is_some() && at.new.is_some() {
                self.value(&at.below("name"), Kind::PathParameterRenamed);
            }
            self.field(&at);
        }
    }

    /// Compares a parameter, a header or a body, which consists of its `schema` or its `content`.
    fn field(&mut self, at: &Cursor<'_>) {
        let at = &at.clone().located();
        let values = at.with(at.old.map(schema_or_content), at.new.map(schema_or_content));
        let (Some(old), Some(new)) = (at.old, at.new) else {
            return self.in_one(&values, at.old.or(at.new).is_some_and(is_required));
        };
        if old.get("schema").is_some() != new.get("schema").is_some() {
            return self.value(&values, Kind::Encoding);
        }
        self.required(&at.below("required"), is_required(old), is_required(new));
        if let (Some(was), Some(is)) = (form(self.old, old), form(self.new, new))
            && was != is
        {
            let keyword = if was[0] == is[0] { "explode" } else { "style" };
            let [was, is] = [was, is].map(|form| form.join(" "));
            self.report_text(&at.below(keyword), Kind::Encoding, Some(&was), Some(&is));
        }
        for (name, at) in at.keywords() {
            match (name, at.old, at.new) {
                ("in" | "name" | "required" | "encoding", ..) => {}
                ("allowReserved", ..) if has_no_reserved(self.new, new) => {}
                ("allowEmptyValue" | "allowReserved", None, _) => {
                    self.value(&at, Kind::EncodingAdded);
                }
                ("allowEmptyValue" | "allowReserved", ..) => self.value(&at, Kind::Encoding),
                // A query or a path is text, and a number is a text, too.
                ("schema", Some(old), Some(new)) if becomes_text(old, new) => {
                    self.value(&at, Kind::TypeWidened);
                }
                ("schema", Some(_), Some(_)) => self.schema(&at),
                ("content", ..) => self.content(&at),
                _ => self.other(&at, name),
            }
        }
    }
}

const WEBSOCKET: &str = "x-dropshot-websocket";

/// The operations that the other document lacks, by method and the paths of their URLs.
fn only<'a>(
    model: &'a Model,
    other: &Model,
) -> BTreeMap<(&'static str, &'a BTreeSet<String>), &'a Operation> {
    let only = model.operations.iter().filter(|(key, _)| !other.operations.contains_key(*key));
    only.map(|(key, operation)| ((key.1, &operation.addresses), operation)).collect()
}

/// How a value of a parameter or a header becomes text: its style, and whether it explodes, as far
/// as they change the text (Parameter Object, style examples). None if neither changes it.
fn form(model: &Model, field: &Value) -> Option<Vec<String>> {
    let encoding = field.get("encoding")?;
    let style = text(&encoding["style"]).to_owned();
    let schema = model.resolved(&field["schema"]).unwrap_or_default();
    let explode_matters = match schema["type"].as_str() {
        Some("boolean" | "integer" | "number" | "string") if field["in"] == "path" => false,
        Some("boolean" | "integer" | "number" | "string") => return None,
        Some("array") => !["simple", "label", "deepObject"].contains(&&style[..]),
        _ => style != "deepObject",
    };
    let explode = explode_matters.then(|| format!("explode: {}", encoding["explode"]));
    Some([style].into_iter().chain(explode).collect())
}

/// Whether no value of a parameter has a character that `allowReserved` is about.
fn has_no_reserved(model: &Model, field: &Value) -> bool {
    let schema = model.resolved(&field["schema"]).unwrap_or_default();
    ["boolean", "integer"].iter().any(|kind| schema["type"] == **kind)
}

/// The URLs of a list of servers.
fn urls(servers: &Value) -> String {
    let urls: Vec<&str> = items(servers).iter().filter_map(|one| one["url"].as_str()).collect();
    if urls.is_empty() { "/".to_owned() } else { urls.join(", ") }
}

/// Whether a number or a bool becomes any text, or a list of such values.
fn becomes_text(old: &Value, new: &Value) -> bool {
    let was_no_text = ["boolean", "integer", "number"].iter().any(|kind| old["type"] == **kind);
    let is_list = || new.get("items").map(meaning) == Some(meaning(old));
    was_no_text && (meaning(new) == json!({ "type": "string" }) || is_list())
}

/// What a parameter, a header or a body consists of.
fn schema_or_content(field: &Value) -> &Value {
    field.get("schema").unwrap_or(&field["content"])
}

fn is_required(field: &Value) -> bool {
    field["required"] == true
}
