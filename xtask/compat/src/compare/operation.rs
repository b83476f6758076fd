//! What changed between the operations of two documents.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Comparison, Here, both, members, told};
use crate::kind::{Direction, Kind};
use crate::normalise::{Model, meaning};

impl Comparison<'_> {
    pub(super) fn operations(&mut self) {
        let (old, new) = (self.old, self.new);
        for key in old.operations.keys().chain(new.operations.keys()).collect::<BTreeSet<_>>() {
            let (old, new) = (old.operations.get(key), new.operations.get(key));
            let Some(one) = old.or(new) else { continue };
            let request = Here::at(&one.place, self.graph.root(&one.name, Direction::REQUEST));
            let response = Here::at(&one.place, self.graph.root(&one.name, Direction::RESPONSE));
            match (old, new) {
                (Some(old), Some(new)) => self.operation(&request, &response, &old.json, &new.json),
                (Some(old), None) => {
                    self.say(&request, Kind::OperationRemoved, Some(old.name.clone()), None);
                }
                (_, new) => {
                    let name = new.map(|new| new.name.clone());
                    self.say(&request, Kind::OperationAdded, None, name);
                }
            }
        }
    }

    fn operation(&mut self, request: &Here, response: &Here, old: &Value, new: &Value) {
        // The answer of a websocket is its handshake: 101, whether the document says so or not.
        let is_websocket = [old, new].iter().all(|one| one.get(WEBSOCKET).is_some());
        for (name, old, new) in members(Some(old), Some(new)) {
            let here = request.below(name);
            match name {
                "callbacks" => self.opaque(&here, Kind::Callback, old, new),
                "operationId" => self.value(&here, Kind::OperationId, old, new),
                "parameters" => self.fields(&here, old, new),
                "path" => {
                    for (name, old, new) in members(old, new) {
                        self.other(&here.below(name), name, old, new);
                    }
                }
                "requestBody" => self.field(&here, old, new),
                "responses" => self.responses(&response.below(name), is_websocket, old, new),
                "security" => self.security(&here, old, new),
                "servers" => self.value(&here, Kind::Server, old, new),
                "tags" => self.value(&here, Kind::Tag, old, new),
                "x-dropshot-pagination" if old.is_some() != new.is_some() => {
                    self.value(&here, Kind::Pagination, old, new);
                }
                WEBSOCKET => self.value(&here, Kind::Websocket, old, new),
                _ => self.other(&here, name, old, new),
            }
        }
    }

    fn security(&mut self, here: &Here, old: Option<&Value>, new: Option<&Value>) {
        let sets = |value: Option<&Value>| -> Vec<BTreeSet<String>> {
            let all = value.and_then(Value::as_array).into_iter().flatten();
            let texts = |set: &Value| {
                let schemes = set.as_array().into_iter().flatten();
                schemes.map(told).collect()
            };
            all.map(texts).collect()
        };
        let after = sets(new);
        let lets_in = |old: &BTreeSet<String>| after.iter().any(|new| new.is_subset(old));
        let loosened = sets(old).iter().all(lets_in);
        let kind = if loosened { Kind::SecurityLoosened } else { Kind::SecurityTightened };
        self.value(here, kind, old, new);
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
        let (Some(one), Some(other)) = (old, new) else {
            let is_required = old.or(new).is_some_and(is_required);
            return self.in_one(here, old.map(held), new.map(held), is_required);
        };
        if one.get("schema").is_some() != other.get("schema").is_some() {
            return self.value(here, Kind::Encoding, old.map(held), new.map(held));
        }
        self.required(&here.below("required"), is_required(one), is_required(other));
        for (name, old, new) in members(old, new) {
            let here = here.below(name);
            match (name, old, new) {
                ("in" | "name" | "required", _, _) => {}
                ("allowEmptyValue" | "allowReserved" | "encoding", _, _) => {
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

    /// What a body or a response has, by media type.
    pub(super) fn content(&mut self, here: &Here, old: Option<&Value>, new: Option<&Value>) {
        for (media_type, old_media, new_media) in both(old, new) {
            let here = here.below(media_type);
            for (name, old, new) in members(Some(old_media), Some(new_media)) {
                let here = here.below(name);
                match (name, old, new) {
                    ("encoding", _, _) => {
                        // That of a new member is judged with the member.
                        let is_in_both = |member: &str| {
                            has_member(self.old, old_media, member)
                                && has_member(self.new, new_media, member)
                        };
                        let changed = members(old, new).into_iter();
                        for (member, old, new) in changed.filter(|(member, ..)| is_in_both(member))
                        {
                            self.value(&here.below(member), Kind::Encoding, old, new);
                        }
                    }
                    ("schema", Some(old), Some(new)) => self.schema(&here, old, new),
                    _ => self.other(&here, name, old, new),
                }
            }
        }
        let all = members(old, new);
        let gone: Vec<_> = all.iter().filter(|(_, _, new)| new.is_none()).collect();
        let came: Vec<_> = all.iter().filter(|(_, old, _)| old.is_none()).collect();
        if let ([(gone, ..)], [(came, ..)]) = (&gone[..], &came[..]) {
            let [gone, came] = [gone, came].map(|name| Some((*name).to_owned()));
            self.say(here, Kind::MediaType, gone, came);
            return;
        }
        for (name, ..) in gone {
            self.say(here, Kind::MediaTypeRemoved, Some((*name).to_owned()), None);
        }
        for (name, ..) in came {
            self.say(here, Kind::MediaTypeAdded, None, Some((*name).to_owned()));
        }
    }
}

const WEBSOCKET: &str = "x-dropshot-websocket";

fn has_member(model: &Model, media: &Value, name: &str) -> bool {
    model.resolved(&media["schema"]).is_some_and(|schema| schema["properties"].get(name).is_some())
}

/// Whether a number or a bool becomes any text, or a list of such ones.
fn becomes_text(old: &Value, new: &Value) -> bool {
    let was_no_text = ["boolean", "integer", "number"].iter().any(|kind| old["type"] == **kind);
    was_no_text && (meaning(new) == json!({ "type": "string" }) || new.get("items") == Some(old))
}

/// What a parameter, a header or a body has.
fn held(field: &Value) -> &Value {
    field.get("schema").unwrap_or(&field["content"])
}

fn is_required(one: &Value) -> bool {
    one.get("required") == Some(&Value::Bool(true))
}
