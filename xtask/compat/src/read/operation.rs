//! Reads operations: an operation gets what it inherits, and every reference is followed.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail};

use super::{Keywords, Reader, list};
use crate::model::{Notes, Operation, Security, Servers, hash};
use crate::tree::{Json, Place};

/// The methods of a path, as OpenAPI writes them.
const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/// Header parameters that OpenAPI ignores (Parameter Object).
const IGNORED: [&str; 3] = ["header accept", "header authorization", "header content-type"];

impl<'t> Reader<'t> {
    pub fn operations(&mut self) -> Result<()> {
        let mut known: BTreeMap<String, &str> = BTreeMap::new();
        let paths = self.tree.root().get("paths").into_iter().flat_map(Json::entries);
        for (path, item) in paths.filter(|(path, _)| path.starts_with('/')) {
            let key = without_names(path);
            if let Some(same) = known.insert(key.clone(), path) {
                bail!(
                    "the paths {same} and {path} are one path with two names of a parameter: \
                     remove one"
                );
            }
            let context = || format!("the path {path}");
            let item = self.followed(item).with_context(context)?;
            for method in METHODS {
                if let Some(operation) = item.get(method).filter(|one| !one.is_null()) {
                    let operation = self.followed(operation).with_context(context)?;
                    let read = self.operation(path, &key, method, item, operation);
                    let read = read.with_context(context)?;
                    self.model.operations.insert((key.clone(), method), read);
                }
            }
        }
        Ok(())
    }

    fn operation(
        &mut self,
        path: &str,
        key: &str,
        method: &str,
        item: Json<'t>,
        operation: Json<'t>,
    ) -> Result<Operation> {
        let mut keywords = Keywords::of(operation);
        let own = ["security", "servers"].map(|name| keywords.left.remove(name));
        let security = self.inherited("security", own[0], &[operation, self.tree.root()]);
        let security = Security { sets: self.security(security.0)?, place: security.1 };
        let servers = self.inherited("servers", own[1], &[operation, item, self.tree.root()]);
        let (servers, bases) = servers_of(servers.0, servers.1)?;
        let addresses = bases.into_iter().map(|base| base + key).collect();

        let mut parameters = BTreeMap::new();
        let inherited = item.get("parameters");
        for parameter in list("parameters", inherited)?
            .chain(list("parameters", keywords.left.remove("parameters"))?)
        {
            let parameter = self.followed(parameter)?;
            let key = identity(path, parameter);
            if !IGNORED.contains(&&key[..]) {
                parameters.insert(key, self.field(parameter, true)?);
            }
        }
        let body = keywords.left.remove("requestBody").map(|body| {
            let body = self.followed(body)?;
            self.field(body, true)
        });
        let mut responses = BTreeMap::new();
        let mut answers = Notes::default();
        if let Some(json) = keywords.left.remove("responses") {
            let mut all = Keywords::of(
                Some(json)
                    .filter(|json| json.is_object())
                    .context("`responses` is not an object")?,
            );
            all.left.retain(|status, _| status.starts_with("x-"));
            answers = all.notes();
            for (status, response) in json.entries() {
                if !status.starts_with("x-") && !response.is_null() {
                    responses.insert(status.clone(), self.response(response)?);
                }
            }
        }
        let tags = keywords.take("tags").into_iter().flat_map(Json::items);
        let mut tags: Vec<String> = tags.map(Json::shown).collect();
        tags.sort();
        let mut path_keywords = Keywords::of(item);
        path_keywords
            .left
            .retain(|name, _| !METHODS.contains(name) && !["parameters", "servers"].contains(name));
        Ok(Operation {
            name: format!("{} {path}", method.to_uppercase()),
            addresses,
            id: keywords.take_text("operationId").map(Into::into),
            tags,
            security,
            servers,
            parameters,
            body: body.transpose()?,
            responses,
            callbacks: keywords.take("callbacks").map(|callbacks| self.whole(callbacks)),
            pagination: keywords.take("x-dropshot-pagination").map(|json| json.to_string().into()),
            websocket: keywords.take("x-dropshot-websocket").map(|json| json.to_string().into()),
            notes: keywords.notes(),
            path: path_keywords.notes(),
            answers,
        })
    }

    /// A keyword of the first owner that has it, and its place.
    fn inherited(
        &self,
        name: &str,
        own: Option<Json<'t>>,
        owners: &[Json<'t>],
    ) -> (Option<Json<'t>>, Place) {
        let others = owners[1..].iter().map(|owner| owner.get(name).filter(|one| !one.is_null()));
        let found = [own].into_iter().chain(others).zip(owners).find(|(found, _)| found.is_some());
        let (found, owner) = found.map_or((None, owners[0]), |(found, owner)| (found, *owner));
        (found, self.tree.below(owner.place(), name))
    }
}

/// What identifies a parameter: its name, but in a path its number.
fn identity(path: &str, parameter: Json<'_>) -> String {
    let [place, name] = ["in", "name"].map(|key| parameter.text_of(key).unwrap_or_default());
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

/// The servers that requests are sent to, and the path of each. `/` is the server of a document
/// that names none.
fn servers_of(servers: Option<Json<'_>>, place: Place) -> Result<(Servers, Vec<String>)> {
    let all = list("servers", servers)?.filter(|server| server.to_string() != r#"{"url":"/"}"#);
    let all: Vec<_> = all.collect();
    let meaning = |server: &Json<'_>| {
        let members = Keywords::of(*server).left.into_iter();
        let members = members.filter(|(name, _)| *name != "description");
        members.map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>().join(", ")
    };
    let words: BTreeSet<String> = all.iter().map(Json::to_string).collect();
    let mut bases: Vec<_> = all.iter().map(|server| base(*server)).collect();
    if bases.is_empty() {
        bases.push(String::new());
    }
    let urls = all.iter().filter_map(|server| server.text_of("url")).map(str::to_owned).collect();
    let all = all.iter().map(meaning).collect();
    Ok((Servers { all, words: hash(&words), urls, place }, bases))
}

/// The path of a server's URL, with the default value of each variable.
fn base(server: Json<'_>) -> String {
    let mut url = server.text_of("url").unwrap_or_default().to_owned();
    for (name, variable) in server.get("variables").into_iter().flat_map(Json::entries) {
        let default = variable.text_of("default").unwrap_or_default();
        url = url.replace(&format!("{{{name}}}"), default);
    }
    let path = match url.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("", |at| &rest[at..]),
        None => &url,
    };
    path.trim_end_matches('/').to_owned()
}
