//! One spelling for operations: what they inherit is theirs, and every reference is followed.

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::{METHODS, Normaliser, Object, Operation, set, step};

impl Normaliser<'_> {
    pub fn operations(&mut self) -> Result<()> {
        let paths = self.document["paths"].as_object().into_iter().flatten();
        for (path, item) in paths.filter(|(path, _)| path.starts_with('/')) {
            let place = step("#/paths", path);
            let item = self.followed(item).with_context(|| format!("the path {path}"))?;
            for method in METHODS {
                let Some(operation) = item.get(method) else { continue };
                let json = self
                    .operation(path, &item, operation)
                    .with_context(|| format!("the path {path}"))?;
                let name = format!("{} {path}", method.to_uppercase());
                let operation = Operation { name, place: step(&place, method), json };
                self.model.operations.insert((without_names(path), method), operation);
            }
        }
        Ok(())
    }

    fn operation(&mut self, path: &str, item: &Object, operation: &Value) -> Result<Value> {
        let mut operation = self.followed(operation)?;
        let inherited =
            |name| item.get(name).or_else(|| self.document.get(name)).unwrap_or(&Value::Null);
        let security = operation.remove("security");
        let security = security.as_ref().unwrap_or_else(|| inherited("security"));
        let servers = operation.remove("servers");
        let servers = servers.as_ref().unwrap_or_else(|| inherited("servers"));
        let [security, servers] = [self.security(security)?, targets(servers)?];
        operation.insert("security".to_owned(), security);
        operation.insert("servers".to_owned(), servers);

        let mut of_path = item.clone();
        of_path.retain(|name, _| {
            !METHODS.contains(&name.as_str()) && !JUDGED.contains(&name.as_str())
        });
        operation.insert("path".to_owned(), Value::Object(of_path));

        let mut parameters = Object::new();
        let own = operation.remove("parameters");
        let all = [item.get("parameters"), own.as_ref()];
        for parameter in all.into_iter().flatten().map(list).collect::<Result<Vec<_>>>()?.concat() {
            let parameter = self.followed(&parameter)?;
            let key = key(path, &parameter);
            parameters.insert(key, self.field(parameter)?);
        }
        operation.insert("parameters".to_owned(), Value::Object(parameters));
        if let Some(body) = operation.get("requestBody") {
            let body = self.followed(body)?;
            operation.insert("requestBody".to_owned(), self.field(body)?);
        }
        if let Some(responses) = operation.get_mut("responses") {
            let responses = responses.as_object_mut().context("`responses` is no object")?;
            for (status, response) in responses.iter_mut() {
                if !status.starts_with("x-") {
                    *response = self.response(response)?;
                }
            }
        }
        if let Some(Value::Array(tags)) = operation.get_mut("tags") {
            tags.sort_by_key(Value::to_string);
        }
        Ok(Value::Object(operation))
    }

    /// The sets of schemes of which any one lets a request in. Each scheme is what it asks for: its
    /// name means nothing.
    fn security(&self, security: &Value) -> Result<Value> {
        let mut all = Vec::new();
        for requirement in list(security)? {
            let mut schemes = Vec::new();
            for (name, scopes) in requirement.as_object().into_iter().flatten() {
                let scheme = self.scheme(name)?;
                schemes.push(Value::from(scheme.as_str()));
                let scopes = list(scopes)?.into_iter();
                let texts =
                    scopes.filter_map(|scope| Some(format!("{scheme} {}", scope.as_str()?)));
                schemes.extend(texts.map(Value::from));
            }
            all.push(set(Value::Array(schemes)));
        }
        let anybody = json!([[]]);
        Ok(if all.is_empty() { anybody } else { set(Value::Array(all)) })
    }

    /// What a client has to do for a scheme. The scopes are those that an operation names.
    fn scheme(&self, name: &str) -> Result<String> {
        let Some(scheme) = self.document["components"]["securitySchemes"].get(name) else {
            return Ok(name.to_owned());
        };
        let mut scheme = self.followed(scheme)?;
        scheme.retain(|name, _| !["description", "bearerFormat"].contains(&name.as_str()));
        if let Some(Value::String(scheme)) = scheme.get_mut("scheme") {
            scheme.make_ascii_lowercase();
        }
        let flows = scheme.get_mut("flows").and_then(Value::as_object_mut).into_iter().flatten();
        for flow in flows.filter_map(|(_, flow)| flow.as_object_mut()) {
            flow.remove("scopes");
        }
        let parts: Vec<String> = scheme
            .into_iter()
            .map(|(_, part)| part.as_str().map_or_else(|| part.to_string(), str::to_owned))
            .collect();
        Ok(parts.join(" "))
    }

    /// A parameter or a header: its schema, and how a value of it becomes text.
    fn field(&mut self, mut field: Object) -> Result<Value> {
        let style = field.remove("style");
        let explode = field.remove("explode");
        if field.contains_key("content") {
            field.remove("schema");
            self.content(&mut field)?;
            return Ok(Value::Object(field));
        }
        let is_in_query = field.get("in").is_some_and(|kind| kind == "query" || kind == "cookie");
        let by_default = if is_in_query { "form" } else { "simple" };
        let style = style.unwrap_or_else(|| json!(by_default));
        let explode = explode.unwrap_or_else(|| json!(style == "form"));
        let mut schema = self.schema(field.remove("schema").unwrap_or_else(|| json!({})));
        if let Some(schema) = schema.as_object_mut() {
            // A text cannot be null.
            schema.remove("nullable");
        }
        field.insert("schema".to_owned(), schema);
        field.insert("encoding".to_owned(), json!({ "style": style, "explode": explode }));
        Ok(Value::Object(field))
    }

    fn response(&mut self, response: &Value) -> Result<Value> {
        let mut response = self.followed(response)?;
        self.content(&mut response)?;
        if let Some(headers) = response.remove("headers") {
            let mut fields = Object::new();
            for (name, header) in self.followed(&headers)? {
                let header = self.followed(&header)?;
                // RFC 9110, section 5.1.
                fields.insert(name.to_lowercase(), self.field(header)?);
            }
            response.insert("headers".to_owned(), Value::Object(fields));
        }
        Ok(Value::Object(response))
    }

    fn content(&mut self, owner: &mut Object) -> Result<()> {
        let Some(content) = owner.remove("content") else { return Ok(()) };
        let mut all = Object::new();
        let content = self.followed(&content)?;
        for (name, media) in &content {
            let mut media = self.followed(media)?;
            let schema = self.schema(media.remove("schema").unwrap_or_else(|| json!({})));
            media.insert("schema".to_owned(), schema);
            // One that is written in two ways is two.
            let plain = media_type(name);
            let key = if content.contains_key(&plain) { name.clone() } else { plain };
            all.insert(key, Value::Object(media));
        }
        owner.insert("content".to_owned(), Value::Object(all));
        Ok(())
    }
}

/// The items of a list, which nobody has to write.
fn list(value: &Value) -> Result<Vec<Value>> {
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Array(items) => Ok(items.clone()),
        _ => bail!("something is no list that has to be one"),
    }
}

/// What an operation inherits of its path as a part of its own.
const JUDGED: [&str; 2] = ["parameters", "servers"];

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

/// A media type in lower case, without blanks. JSON has no charset (RFC 8259, section 11).
fn media_type(name: &str) -> String {
    let name: String = name.to_lowercase().split_whitespace().collect();
    match name.strip_prefix("application/json;charset=") {
        Some(_) => "application/json".to_owned(),
        None => name,
    }
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
