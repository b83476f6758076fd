//! One spelling for operations: what they inherit is theirs, and every reference is followed.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{AT, Normaliser, Object, list, set};
use crate::pointer::step;

/// An operation: what it inherits is its own, and no reference is left but those to schemas.
pub struct Operation {
    /// Its name for people: `POST /books`.
    pub name: String,
    pub json: Value,
    /// The paths of the URLs that it has: the path of each server, and its own behind it.
    pub addresses: BTreeSet<String>,
}

/// The methods of a path, as OpenAPI writes them.
const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/// What an operation inherits of its path as a part of its own.
const JUDGED: [&str; 2] = ["parameters", "servers"];

impl Normaliser<'_> {
    pub fn operations(&mut self) -> Result<()> {
        let paths = self.document["paths"].as_object().into_iter().flatten();
        let mut known: BTreeMap<String, &String> = BTreeMap::new();
        for (path, item) in paths.filter(|(path, _)| path.starts_with('/')) {
            let key = without_names(path);
            let same = known.insert(key.clone(), path);
            ensure!(
                same.is_none(),
                "the paths {} and {path} are one path with two names of a parameter: remove one",
                same.unwrap_or(path)
            );
            let place = step("#/paths", path);
            let at = || format!("the path {path}");
            let item = self.followed(item, &place).with_context(at)?;
            for method in METHODS {
                let Some(operation) = item.get(method) else { continue };
                let place = step(&place, method);
                let json = self.operation(path, &item, operation, &place, false);
                let json = json.with_context(at)?;
                let servers = json["servers"]["all"].as_array().into_iter().flatten();
                let mut addresses: BTreeSet<_> =
                    servers.map(|server| base(server) + &key).collect();
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

    /// An operation of a path, or of a callback: in a callback it inherits nothing of the document,
    /// because the client is the server.
    fn operation(
        &mut self,
        path: &str,
        item: &Object,
        operation: &Value,
        place: &str,
        is_callback: bool,
    ) -> Result<Value> {
        let mut operation = self.followed(operation, place)?;
        let of_path = item[AT].as_str().unwrap_or_default();
        let root = if is_callback { &Value::Null } else { self.document };
        for name in ["security", "servers"] {
            let own = operation.remove(name);
            let owners = [(place, own.as_ref()), (of_path, item.get(name)), ("#", root.get(name))];
            let mut owners = owners.into_iter().filter_map(|(owner, all)| Some((owner, all?)));
            let (owner, all) = owners.next().unwrap_or((place, &Value::Null));
            let all = if name == "security" { self.security(all)? } else { targets(all)? };
            operation.insert(name.to_owned(), json!({ "all": all, AT: step(owner, name) }));
        }

        let mut path_item = item.clone();
        path_item.retain(|name, _| {
            !METHODS.contains(&name.as_str()) && !JUDGED.contains(&name.as_str())
        });
        operation.insert("path".to_owned(), Value::Object(path_item));

        let mut parameters = Object::new();
        let own = operation.remove("parameters");
        for (owner, all) in [(of_path, item.get("parameters")), (place, own.as_ref())] {
            for (at, parameter) in list(all.unwrap_or(&Value::Null))?.iter().enumerate() {
                let place = step(&step(owner, "parameters"), &at.to_string());
                let parameter = self.followed(parameter, &place)?;
                let key = key(path, &parameter);
                if !["header accept", "header authorization", "header content-type"]
                    .contains(&&key[..])
                {
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
            let responses = responses.as_object_mut().context("`responses` is no object")?;
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

    /// The operations that the service calls, by URL and method.
    fn callbacks(&mut self, callbacks: &Value, place: &str) -> Result<Object> {
        let mut all = Object::new();
        let callbacks = self.followed(callbacks, place)?;
        for (name, callback) in callbacks.iter().filter(|(name, _)| *name != AT) {
            let callback = self.followed(callback, &step(place, name))?;
            let place = callback[AT].as_str().unwrap_or_default().to_owned();
            for (url, item) in callback.iter().filter(|(url, _)| !url.starts_with("x-")) {
                if url == AT {
                    continue;
                }
                let item = self.followed(item, &step(&place, url))?;
                let place = item[AT].as_str().unwrap_or_default().to_owned();
                for method in METHODS {
                    let Some(operation) = item.get(method) else { continue };
                    let place = step(&place, method);
                    let operation = self.operation(url, &item, operation, &place, true)?;
                    all.insert(format!("{} {url}", method.to_uppercase()), operation);
                }
            }
        }
        Ok(all)
    }
}

/// What makes a parameter the same one: its name, but its number in the path.
fn key(path: &str, parameter: &Object) -> String {
    let text = |name| parameter.get(name).and_then(Value::as_str).unwrap_or_default();
    let name = text("name");
    let same = match text("in") {
        // RFC 9110, section 5.1.
        "header" => name.to_lowercase(),
        "path" => {
            let before = path.split(&format!("{{{name}}}")).next().unwrap_or_default();
            before.matches('{').count().to_string()
        }
        _ => name.to_owned(),
    };
    format!("{} {same}", text("in"))
}

/// The path with `{}` for each parameter.
fn without_names(path: &str) -> String {
    let parts = path.split('{').map(|part| part.split_once('}').map_or(part, |(_, rest)| rest));
    parts.collect::<Vec<_>>().join("{}")
}

/// What requests are sent to.
fn targets(servers: &Value) -> Result<Value> {
    let mut servers = list(servers)?;
    // `/`, the place of the document itself, is what a document without servers means.
    servers.retain(|server| *server != json!({ "url": "/" }));
    Ok(set(Value::Array(servers)))
}

/// The path of a server's URL, with the default value of each variable.
fn base(server: &Value) -> String {
    let mut url = server["url"].as_str().unwrap_or_default().to_owned();
    for (name, variable) in server["variables"].as_object().into_iter().flatten() {
        let value = variable["default"].as_str().unwrap_or_default();
        url = url.replace(&format!("{{{name}}}"), value);
    }
    let path = match url.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("", |at| &rest[at..]),
        None => &url,
    };
    path.trim_end_matches('/').to_owned()
}
