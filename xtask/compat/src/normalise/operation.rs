//! One spelling for operations: what they inherit is theirs, and every reference is followed.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use openapiv3::{
    Content, Encoding, Header, Info, MediaType, OpenAPI, Parameter, ParameterData,
    ParameterSchemaOrContent, PathItem, ReferenceOr, RequestBody, Response as ResponseObject,
    Responses, SecurityRequirement, SecurityScheme, Server, Tag,
};
use serde::Serialize;
use serde_json::Value;

use super::{Normaliser, canonical, step};
use crate::model::{Body, Field, Media, Operation, Placed, Response};
use crate::model::{Limits, Schema};

/// What an operation has unless it says something else.
struct Inherited {
    security: (String, Option<Vec<SecurityRequirement>>),
    servers: (String, Vec<Server>),
}

impl Normaliser<'_> {
    pub fn document(&mut self, openapi: OpenAPI) -> Result<()> {
        let OpenAPI { openapi: _, info, servers, paths, components, security, tags, .. } = openapi;
        self.about(info, &tags, openapi.external_docs.map(|docs| docs.url));
        self.extensions("#", openapi.extensions);
        self.extensions("#/paths", paths.extensions);
        let components = components.unwrap_or_default();
        self.extensions("#/components", components.extensions);
        for (name, scheme) in components.security_schemes {
            let (place, scheme) =
                self.followed(step("#/components/securitySchemes", &name), scheme)?;
            let scheme = self.scheme(&place, &scheme);
            self.schemes.insert(name, scheme);
        }

        let inherited = Inherited {
            security: ("#/security".to_owned(), security),
            servers: ("#/servers".to_owned(), servers),
        };
        for (path, item) in paths.paths {
            let place = step("#/paths", &path);
            let (_, item) = self.followed(place.clone(), item)?;
            self.path(&path, &place, item, &inherited)
                .with_context(|| format!("the path {path}"))?;
        }
        Ok(())
    }

    fn about(&mut self, info: Info, tags: &[Tag], docs: Option<String>) {
        // The version says what the changes mean; it is not a change itself.
        let Info { title, description, terms_of_service, contact, license, extensions, .. } = info;
        let [contact, license] = [json(&contact), json(&license)];
        let texts =
            [Some(title), description, terms_of_service, Some(contact), Some(license), docs];
        self.texts("#/info", texts);
        self.extensions("#/info", extensions);
        self.texts("#/tags", tags.iter().map(|tag| Some(json(tag))));
    }

    /// What a client has to do for a scheme.
    fn scheme(&mut self, place: &str, scheme: &SecurityScheme) -> String {
        let mut value = serde_json::to_value(scheme).expect("a scheme is JSON");
        let members = value.as_object_mut().expect("a scheme is an object");
        let mut texts = Vec::new();
        for name in ["description", "bearerFormat"] {
            texts.push(members.remove(name).map(|text| text.to_string()));
        }
        if members.get("type").is_some_and(|kind| kind == "http")
            && let Some(Value::String(scheme)) = members.get_mut("scheme")
        {
            scheme.make_ascii_lowercase();
        }
        // Each operation names the scopes that it needs.
        let flows = members.get_mut("flows").and_then(Value::as_object_mut);
        for flow in flows.into_iter().flatten().filter_map(|(_, flow)| flow.as_object_mut()) {
            texts.push(flow.remove("scopes").map(|scopes| scopes.to_string()));
        }
        self.texts(place, texts);
        canonical(&value)
    }

    fn path(
        &mut self,
        path: &str,
        place: &str,
        item: PathItem,
        inherited: &Inherited,
    ) -> Result<()> {
        self.texts(place, [item.summary.clone(), item.description.clone()]);
        self.extensions(place, item.extensions.clone());
        let servers = match item.servers.is_empty() {
            true => inherited.servers.clone(),
            false => (step(place, "servers"), item.servers.clone()),
        };
        let shared = item.parameters.clone();
        let path_place = place;
        for (method, operation) in item {
            let place = step(place, method);
            let texts = [operation.summary, operation.description];
            let docs = operation.external_docs.map(|docs| docs.url);
            self.texts(&place, texts.into_iter().chain([docs]));
            let mut extensions: BTreeMap<_, _> = operation.extensions.into_iter().collect();
            let mut taken = |name| extensions.remove(name).map(|value| canonical(&value));
            let pagination = taken("x-dropshot-pagination");
            let websocket = taken("x-dropshot-websocket");
            self.extensions(&place, extensions);

            let mut parameters = BTreeMap::new();
            let own = operation.parameters.into_iter().map(|one| (place.as_str(), one));
            let shared = shared.iter().map(|one| (path_place, one.clone()));
            for (place, parameter) in shared.chain(own) {
                let (key, field) = self.parameter(place, path, parameter)?;
                parameters.insert(key, field);
            }
            let body = operation.request_body.map(|body| self.body(&place, body)).transpose()?;
            let responses = self.responses(&place, operation.responses)?;
            let security = match operation.security {
                Some(security) => (step(&place, "security"), Some(security)),
                None => inherited.security.clone(),
            };
            let servers = match operation.servers.is_empty() {
                true => servers.clone(),
                false => (step(&place, "servers"), operation.servers),
            };
            let callbacks = operation.callbacks;
            let operation = Operation {
                name: format!("{} {path}", method.to_uppercase()),
                id: operation.operation_id,
                deprecated: operation.deprecated,
                tags: operation.tags.into_iter().collect(),
                parameters,
                body,
                responses,
                security: self.security(security),
                servers: Placed { place: servers.0, value: addresses(&servers.1) },
                callbacks: (!callbacks.is_empty()).then(|| json(&callbacks)),
                pagination,
                websocket,
                place,
            };
            let key = (without_names(path), method.to_owned());
            self.model.operations.insert(key, operation);
        }
        Ok(())
    }

    /// The schemes that let a request in, each by what it asks for: its name means nothing.
    fn security(
        &self,
        (place, security): (String, Option<Vec<SecurityRequirement>>),
    ) -> Placed<BTreeSet<BTreeSet<String>>> {
        let mut value = BTreeSet::new();
        for requirement in security.unwrap_or_default() {
            let mut all = BTreeSet::new();
            for (name, scopes) in requirement {
                let scheme = self.schemes.get(&name).unwrap_or(&name);
                all.insert(scheme.clone());
                all.extend(scopes.into_iter().map(|scope| format!("{scheme} {scope}")));
            }
            value.insert(all);
        }
        if value.is_empty() {
            value.insert(BTreeSet::new());
        }
        Placed { place, value }
    }

    fn parameter(
        &mut self,
        place: &str,
        path: &str,
        parameter: ReferenceOr<Parameter>,
    ) -> Result<((&'static str, String), Field)> {
        let (found, parameter) = self.followed(String::new(), parameter)?;
        let kind = match &parameter {
            Parameter::Query { .. } => "query",
            Parameter::Header { .. } => "header",
            Parameter::Path { .. } => "path",
            Parameter::Cookie { .. } => "cookie",
        };
        let style = json(&match &parameter {
            Parameter::Query { style, allow_reserved, allow_empty_value, .. } => {
                let empty = *allow_empty_value == Some(true);
                json(&(style, if *allow_reserved { "reserved" } else { "" }, empty))
            }
            Parameter::Header { style, .. } => json(style),
            Parameter::Path { style, .. } => json(style),
            Parameter::Cookie { style, .. } => json(style),
        });
        let data = parameter.parameter_data();
        let place = match found.is_empty() {
            true => format!("{}/{}", step(place, "parameters"), data.name.replace('/', "~1")),
            false => found,
        };
        let name = data.name.clone();
        let key = match kind {
            // RFC 9110, section 5.1.
            "header" => name.to_lowercase(),
            "path" => {
                let template = format!("{{{name}}}");
                path.find(&template).map_or(name, |at| path[..at].matches('{').count().to_string())
            }
            _ => name,
        };
        Ok(((kind, key), self.field(place, style, data)))
    }

    fn field(&mut self, place: String, style: String, data: ParameterData) -> Field {
        let ParameterData { name, description, required, deprecated, format, .. } = data;
        self.texts(&place, [description, data.example.as_ref().map(canonical)]);
        self.texts(&place, data.examples.iter().map(|example| Some(json(&example))));
        self.extensions(&place, data.extensions);
        let is_form = style.contains("form");
        let (schema, encoding) = match format {
            ParameterSchemaOrContent::Schema(schema) => {
                let schema = self.used(&step(&place, "schema"), schema);
                // A text cannot be null.
                let schema = Schema { nullable: false, ..schema };
                let explode = data.explode.unwrap_or(is_form);
                (schema, format!("{style} explode={explode}"))
            }
            ParameterSchemaOrContent::Content(content) => {
                let mut content = self.content(&place, content);
                match content.pop_first() {
                    Some((media_type, media)) => (media.schema, media_type),
                    None => (Schema::default(), style),
                }
            }
        };
        let deprecated = deprecated == Some(true);
        Field { place, name, required, deprecated, encoding, schema }
    }

    fn header(&mut self, place: String, name: &str, header: Header) -> Field {
        let data = ParameterData {
            name: name.to_owned(),
            description: header.description,
            required: header.required,
            deprecated: header.deprecated,
            format: header.format,
            example: header.example,
            examples: header.examples,
            explode: None,
            extensions: header.extensions,
        };
        self.field(place, json(&header.style), data)
    }

    fn body(&mut self, place: &str, body: ReferenceOr<RequestBody>) -> Result<Body> {
        let (place, body) = self.followed(step(place, "requestBody"), body)?;
        self.texts(&place, [body.description]);
        self.extensions(&place, body.extensions);
        let content = self.content(&place, body.content);
        Ok(Body { place, required: body.required, content })
    }

    fn responses(&mut self, place: &str, all: Responses) -> Result<BTreeMap<String, Response>> {
        let place = step(place, "responses");
        self.extensions(&place, all.extensions);
        let default = all.default.map(|response| ("default".to_owned(), response));
        let named = all.responses.into_iter().map(|(code, response)| (code.to_string(), response));
        let mut responses = BTreeMap::new();
        for (status, response) in named.chain(default) {
            let response = self.response(step(&place, &status), response)?;
            responses.insert(status, response);
        }
        Ok(responses)
    }

    fn response(&mut self, place: String, one: ReferenceOr<ResponseObject>) -> Result<Response> {
        let (place, response) = self.followed(place, one)?;
        self.texts(&place, [Some(response.description)]);
        self.extensions(&place, response.extensions);
        let content = self.content(&place, response.content);
        let mut headers = BTreeMap::new();
        let inner = step(&place, "headers");
        for (name, header) in response.headers {
            let (place, header) = self.followed(step(&inner, &name), header)?;
            headers.insert(name.to_lowercase(), self.header(place, &name, header));
        }
        let links = (!response.links.is_empty()).then(|| json(&response.links));
        Ok(Response { place, headers, content, links })
    }

    fn content(&mut self, place: &str, content: Content) -> BTreeMap<String, Media> {
        let place = step(place, "content");
        let media = content.into_iter().map(|(name, media)| {
            let place = step(&place, &name);
            let MediaType { schema, example, examples, encoding, extensions } = media;
            self.texts(&place, [example.as_ref().map(canonical)]);
            self.texts(&place, examples.iter().map(|example| Some(json(&example))));
            self.extensions(&place, extensions);
            let schema = schema.map(|schema| self.used(&step(&place, "schema"), schema));
            let encoding = encoding.iter().filter(|(_, one)| **one != Encoding::default());
            let encoding: BTreeMap<_, _> = encoding.collect();
            let encoding = if encoding.is_empty() { String::new() } else { json(&encoding) };
            let schema = schema.unwrap_or_else(|| Schema::of(Limits::default()));
            (media_type(&name), Media { schema, encoding })
        });
        media.collect()
    }
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
    let mut is_name = false;
    path.chars()
        .filter(|&char| {
            is_name = (is_name || char == '{') && char != '}';
            !is_name || char == '{'
        })
        .collect()
}

/// What requests are sent to, without words.
fn addresses(servers: &[Server]) -> BTreeSet<String> {
    let none = Server { url: "/".to_owned(), ..Server::default() };
    let servers = if servers.is_empty() { &[none] } else { servers };
    let addresses = servers.iter().map(|server| {
        let variables = server.variables.iter().flatten();
        let variables: BTreeMap<_, _> = variables
            .map(|(name, variable)| (name, (&variable.default, &variable.enumeration)))
            .collect();
        match variables.is_empty() {
            true => server.url.clone(),
            false => format!("{} {}", server.url, json(&variables)),
        }
    });
    addresses.collect()
}

fn json(value: &impl Serialize) -> String {
    canonical(&serde_json::to_value(value).expect("a part of a document is JSON"))
}
