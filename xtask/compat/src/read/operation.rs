//! Reads operations, with everything that they inherit from the path and from the document.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};

use super::keywords::{Keywords, within};
use super::{Reader, list};
use crate::json::Json;
use crate::model::{Operation, Servers};

/// The methods of a Path Item Object.
const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/// Header parameters that OpenAPI ignores (Parameter Object).
const IGNORED: [&str; 3] = ["header accept", "header authorization", "header content-type"];

impl<'t> Reader<'t> {
    pub fn operations(&mut self) -> Result<()> {
        let mut known: BTreeMap<String, &str> = BTreeMap::new();
        let paths = self.document.get("paths").into_iter().flat_map(|one| one.entries());
        for (path, item) in paths.filter(|(path, _)| path.starts_with('/')) {
            let key = without_names(path);
            if let Some(same) = known.insert(key.clone(), path) {
                bail!(
                    "the paths {same} and {path} are one path with two names of a parameter: \
                     remove one"
                );
            }
            let context = || format!("the path {path}");
            let item = self.followed(&item).with_context(context)?;
            for method in METHODS {
                if let Some(operation) = item.get(method).filter(|one| !one.is_null()) {
                    let operation = self.followed(&operation).with_context(context)?;
                    let read = self.operation(path, method, &item, &operation);
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
        method: &str,
        item: &Json<'t>,
        operation: &Json<'t>,
    ) -> Result<Operation> {
        let document = self.document.clone();
        let mut keywords = Keywords::of(operation);
        let security = self.security(inherited("security", &[operation, &document]))?;
        let (servers, bases) = servers_of(inherited("servers", &[operation, item, &document]))?;
        let url_paths = bases.into_iter().map(|base| base + &without_names(path)).collect();
        keywords.unread.retain(|name, _| !["security", "servers"].contains(name));

        let mut parameters = BTreeMap::new();
        for parameter in list("parameters", item.get("parameters"))?
            .chain(list("parameters", keywords.unread.remove("parameters"))?)
        {
            let parameter = self.followed(&parameter)?;
            let key = parameter_key(path, &parameter);
            if !IGNORED.contains(&&key[..]) {
                parameters.insert(key, self.field(&parameter, "parameter", "")?);
            }
        }
        let body = keywords.unread.remove("requestBody").map(|body| {
            let body = self.followed(&body)?;
            self.field(&body, "request", "")
        });
        let mut responses = BTreeMap::new();
        let mut responses_keywords = Keywords::default();
        if let Some(json) = keywords.unread.remove("responses") {
            ensure!(json.is_object(), "`responses` is not an object");
            responses_keywords = Keywords::of(&json);
            responses_keywords.unread.retain(|status, _| status.starts_with("x-"));
            for (status, response) in json.entries() {
                if !status.starts_with("x-") && !response.is_null() {
                    responses.insert(status.into(), self.response(&response)?);
                }
            }
        }
        let mut path_keywords = Keywords::of(item);
        path_keywords
            .unread
            .retain(|name, _| !METHODS.contains(name) && !["parameters", "servers"].contains(name));
        let mut extras = self.extras(keywords, "operation");
        extras.extend(within("path", self.extras(path_keywords, "path")));
        extras.extend(within("responses", self.extras(responses_keywords, "responses")));
        Ok(Operation {
            name: format!("{} {path}", method.to_uppercase()),
            url_paths,
            security,
            servers,
            parameters,
            body: body.transpose()?,
            responses,
            extras,
        })
    }
}

/// A keyword of the first of these objects that has it.
fn inherited<'t>(name: &str, owners: &[&Json<'t>]) -> Option<Json<'t>> {
    owners.iter().find_map(|owner| Keywords::of(owner).unread.remove(name))
}

/// The key of a parameter: its location and its name, or its number if it is a path parameter.
fn parameter_key(path: &str, parameter: &Json<'_>) -> String {
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

/// A path with `{}` in place of each parameter.
fn without_names(path: &str) -> String {
    let parts = path.split('{').map(|part| part.split_once('}').map_or(part, |(_, rest)| rest));
    parts.collect::<Vec<_>>().join("{}")
}

/// Reads `servers`, and the path of each URL. `/` is the default (OpenAPI Object).
fn servers_of(servers: Option<Json<'_>>) -> Result<(Servers, Vec<String>)> {
    let all = list("servers", servers)?.filter(|server| server.to_string() != r#"{"url":"/"}"#);
    let all: Vec<_> = all.collect();
    let shown = |server: &Json<'_>| {
        let url = server.text_of("url").unwrap_or_default();
        let variables = server.get("variables").map(|variables| format!(" {variables}"));
        format!("{url}{}", variables.unwrap_or_default())
    };
    let mut bases: Vec<_> = all.iter().map(base).collect();
    if bases.is_empty() {
        bases.push(String::new());
    }
    Ok((all.iter().map(shown).collect(), bases))
}

/// The path of a server's URL, with the default value of each variable.
fn base(server: &Json<'_>) -> String {
    let mut url = server.text_of("url").unwrap_or_default().to_owned();
    for (name, variable) in server.get("variables").into_iter().flat_map(|one| one.entries()) {
        let default = variable.text_of("default").unwrap_or_default();
        url = url.replace(&format!("{{{name}}}"), default);
    }
    let path = match url.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("", |at| &rest[at..]),
        None => &url,
    };
    path.trim_end_matches('/').to_owned()
}
