//! Normalises operations: an operation gets what it inherits, and every reference is followed.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::{AT, Normaliser, Object, is_one_of, list, set};
use crate::json::{entries, items, text};
use crate::pointer::step;

/// An operation with everything that it inherits. The references that are left lead to schemas.
pub struct Operation {
    /// Its name for people: `POST /books`.
    pub name: String,
    pub json: Value,
    /// The paths of its URLs: the path of each server, followed by its own.
    pub addresses: BTreeSet<String>,
}

/// The methods of a path, as OpenAPI writes them.
const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/// Header parameters that OpenAPI ignores (Parameter Object).
const IGNORED: [&str; 3] = ["header accept", "header authorization", "header content-type"];

impl Normaliser<'_> {
    pub fn operations(&mut self) -> Result<()> {
        let mut known: BTreeMap<String, &String> = BTreeMap::new();
        let paths = entries(&self.document["paths"]);
        for (path, item) in paths.filter(|(path, _)| path.starts_with('/')) {
            let key = without_names(path);
            if let Some(same) = known.insert(key.clone(), path) {
                bail!(
                    "the paths {same} and {path} are one path with two names of a parameter: \
                     remove one"
                );
            }
            let place = step("#/paths", path);
            let context = || format!("the path {path}");
            let item = self.followed(item, &place).with_context(context)?;
            for (method, json) in self.methods(path, &item, &place, false).with_context(context)? {
                let servers = items(&json["servers"]["all"]);
                let mut addresses: BTreeSet<_> =
                    servers.iter().map(|server| base(server) + &key).collect();
                if addresses.is_empty() {
                    addresses.insert(key.clone());
                }
                let name = format!("{} {path}", method.to_uppercase());
                let operation = Operation { name, json, addresses };
                self.model.operations.insert((key.clone(), method), operation);
            }
        }
        Ok(())
    }

    /// Normalises the operations of a path item, or of a callback.
    fn methods(
        &mut self,
        path: &str,
        item: &Object,
        place: &str,
        is_callback: bool,
    ) -> Result<Vec<(&'static str, Value)>> {
        let mut all = Vec::new();
        for method in METHODS {
            if let Some(operation) = item.get(method) {
                let operation = self.followed(operation, &step(place, method))?;
                all.push((method, self.operation(path, item, operation, is_callback)?));
            }
        }
        Ok(all)
    }

    fn operation(
        &mut self,
        path: &str,
        item: &Object,
        mut operation: Object,
        is_callback: bool,
    ) -> Result<Value> {
        let place = &text(&operation[AT]).to_owned();
        let item_place = text(&item[AT]);
        // In a callback the client is the server, so nothing of the document is inherited.
        let root = if is_callback { &Value::Null } else { self.document };
        for name in ["security", "servers"] {
            let own = operation.remove(name);
            let owners =
                [(&place[..], own.as_ref()), (item_place, item.get(name)), ("#", root.get(name))];
            let mut owners = owners.into_iter().filter_map(|(owner, all)| Some((owner, all?)));
            let (owner, all) = owners.next().unwrap_or((place, &Value::Null));
            let all = if name == "security" { self.security(all)? } else { servers(all)? };
            operation.insert(name.to_owned(), json!({ "all": all, AT: step(owner, name) }));
        }

        let mut rest = item.clone();
        rest.retain(|name, _| {
            !METHODS.contains(&&name[..]) && !is_one_of(name, "parameters servers")
        });
        operation.insert("path".to_owned(), Value::Object(rest));

        let mut parameters = Object::new();
        let own = operation.remove("parameters");
        for (owner, all) in [(item_place, item.get("parameters")), (place, own.as_ref())] {
            let owner = step(owner, "parameters");
            for (at, parameter) in
                list("parameters", all.unwrap_or(&Value::Null))?.iter().enumerate()
            {
                let parameter = self.followed(parameter, &step(&owner, &at.to_string()))?;
                let key = key(path, &parameter);
                if !IGNORED.contains(&&key[..]) {
                    parameters.insert(key, self.field(parameter, true)?);
                }
            }
        }
        operation.insert("parameters".to_owned(), Value::Object(parameters));

        if let Some(body) = operation.get("requestBody") {
            let body = self.followed(body, &step(place, "requestBody"))?;
            operation.insert("requestBody".to_owned(), self.field(body, true)?);
        }
        if let Some(responses) = operation.get_mut("responses") {
            let responses = responses.as_object_mut().context("`responses` is not an object")?;
            let place = step(place, "responses");
            for (status, response) in responses.iter_mut() {
                if !status.starts_with("x-") {
                    *response = self.response(response, &step(&place, status))?;
                }
            }
        }
        if let Some(Value::Array(tags)) = operation.get_mut("tags") {
            tags.sort_by_key(Value::to_string);
        }
        // The callbacks of a callback stay as they are: any change of them is unknown.
        if !is_callback && let Some(callbacks) = operation.remove("callbacks") {
            let callbacks = self.callbacks(&callbacks, &step(place, "callbacks"))?;
            operation.insert("callbacks".to_owned(), Value::Object(callbacks));
        }
        Ok(Value::Object(operation))
    }

    /// Normalises the operations that the service calls, by URL and method.
    fn callbacks(&mut self, callbacks: &Value, place: &str) -> Result<Object> {
        let mut all = Object::new();
        let callbacks = self.followed(callbacks, place)?;
        for (name, callback) in callbacks.iter().filter(|(name, _)| *name != AT) {
            let callback = self.followed(callback, &step(place, name))?;
            let place = text(&callback[AT]);
            let is_url = |name: &str| name != AT && !name.starts_with("x-");
            for (url, item) in callback.iter().filter(|(name, _)| is_url(name)) {
                let item = self.followed(item, &step(place, url))?;
                let operations = self.methods(url, &item, text(&item[AT]), true)?.into_iter();
                all.extend(operations.map(|(method, operation)| {
                    (format!("{} {url}", method.to_uppercase()), operation)
                }));
            }
        }
        Ok(all)
    }
}

/// What identifies a parameter: its name, but in a path its number.
fn key(path: &str, parameter: &Object) -> String {
    let [place, name] = ["in", "name"].map(|key| parameter.get(key).map_or("", text));
    let identity = match place {
        // RFC 9110, section 5.1.
        "header" => name.to_lowercase(),
        "path" => {
            let before = path.split(&format!("{{{name}}}")).next().unwrap_or_default();
            before.matches('{').count().to_string()
        }
        _ => name.to_owned(),
    };
    format!("{place} {identity}")
}

/// A path with `{}` in the place of each parameter.
fn without_names(path: &str) -> String {
    let parts = path.split('{').map(|part| part.split_once('}').map_or(part, |(_, rest)| rest));
    parts.collect::<Vec<_>>().join("{}")
}

/// The servers that requests are sent to. `/` is the server of a document that names none.
fn servers(servers: &Value) -> Result<Value> {
    let mut servers = list("servers", servers)?.to_vec();
    servers.retain(|server| *server != json!({ "url": "/" }));
    Ok(set(Value::Array(servers)))
}

/// The path of a server's URL, with the default value of each variable.
fn base(server: &Value) -> String {
    let mut url = text(&server["url"]).to_owned();
    for (name, variable) in entries(&server["variables"]) {
        url = url.replace(&format!("{{{name}}}"), text(&variable["default"]));
    }
    let path = match url.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("", |at| &rest[at..]),
        None => &url,
    };
    path.trim_end_matches('/').to_owned()
}
