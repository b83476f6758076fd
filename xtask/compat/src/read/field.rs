//! Reads parameters, headers, request bodies and responses, without what OpenAPI ignores.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use anyhow::Result;

use super::Reader;
use super::keywords::Keywords;
use super::schema::Position;
use crate::json::Json;
use crate::model::{Content, Field, FieldValue, MediaType, Nullable, Response, Schema};

impl<'t> Reader<'t> {
    /// Reads a parameter, a header or a request body. Only a parameter has `name` and `in` itself.
    pub fn field(&mut self, json: &Json<'t>, in_: &str, name: &str) -> Result<Field> {
        let mut keywords = Keywords::of(json);
        let name = keywords.take_text("name").unwrap_or(name).into();
        let in_ = keywords.take_text("in").unwrap_or(in_);
        let is_required = keywords.take_flag("required");
        let [schema, style, explode] =
            ["schema", "style", "explode"].map(|keyword| keywords.take(keyword));
        let value = if let Some(content) = keywords.take("content") {
            FieldValue::Content(self.content(&content, in_ != "headers")?)
        } else {
            let by_default = if ["query", "cookie"].contains(&in_) { "form" } else { "simple" };
            let style = style.and_then(|one| one.text()).unwrap_or(by_default);
            let explode = explode.map_or(style == "form", |value| *value == true);
            let style = format!("{style}, explode: {explode}").into();
            let mut schema = self.schema_of(schema);
            if schema.annotations.nullable != Nullable::No {
                // Null cannot be sent as text.
                Rc::make_mut(&mut schema).annotations.nullable = Nullable::No;
            }
            FieldValue::Schema { schema, style }
        };
        if in_ != "query" {
            keywords.unread.retain(|name, _| !["allowReserved", "allowEmptyValue"].contains(name));
        }
        let extras = self.extras(keywords, "field");
        Ok(Field { name, in_: in_.into(), is_required, value, extras })
    }

    pub fn response(&mut self, json: &Json<'t>) -> Result<Response> {
        let mut keywords = Keywords::of(&self.followed(json)?);
        let content = keywords.take("content");
        let content = content.map(|content| self.content(&content, false)).transpose()?;
        let headers = match keywords.take("headers") {
            Some(headers) => self.headers(&headers)?,
            None => BTreeMap::new(),
        };
        Ok(Response { content, headers, extras: self.extras(keywords, "response") })
    }

    /// Reads the headers of a response, without `Content-Type` (Response Object).
    fn headers(&mut self, json: &Json<'t>) -> Result<BTreeMap<String, Field>> {
        let mut fields = BTreeMap::new();
        for (name, header) in self.followed(json)?.entries() {
            // RFC 9110, section 5.1.
            let key = name.to_lowercase();
            if key != "content-type" {
                let header = self.followed(&header)?;
                fields.insert(key, self.field(&header, "headers", name)?);
            }
        }
        Ok(fields)
    }

    fn content(&mut self, json: &Json<'t>, is_request: bool) -> Result<Content> {
        let content = self.followed(json)?;
        let mut all = Content::new();
        for (name, media) in content.entries() {
            let media = self.followed(&media)?;
            let normalised = media_type(name);
            let mut keywords = Keywords::of(&media);
            let schema = keywords.take("schema");
            if !is_request || !is_form(&normalised) {
                keywords.unread.remove("encoding");
            }
            let schema = self.schema_of(schema);
            let media = MediaType { schema, extras: self.extras(keywords, "media") };
            // Two spellings of the same media type stay apart.
            let is_taken = name != normalised && content.get(&normalised).is_some();
            all.insert(if is_taken { name.to_string() } else { normalised }, media);
        }
        Ok(all)
    }

    /// Reads the schema of a field or a media type. Without a schema, every value is allowed.
    fn schema_of(&mut self, schema: Option<Json<'t>>) -> Rc<Schema> {
        schema.map(|schema| self.schema(&schema, Position::Inner)).unwrap_or_default()
    }
}

/// Normalises a media type: lower case, no spaces and quotes, sorted parameters, and no charset of
/// JSON (RFC 8259, section 11).
fn media_type(name: &str) -> String {
    let name: String = name.to_lowercase().replace('"', "").split_whitespace().collect();
    let (kind, parameters) = name.split_once(';').unwrap_or((&name, ""));
    let mut parameters: BTreeSet<&str> = parameters.split(';').collect();
    parameters.retain(|one| !(one.is_empty() || is_json(kind) && one.starts_with("charset=")));
    parameters.iter().fold(kind.to_owned(), |kind, one| format!("{kind};{one}"))
}

fn is_json(kind: &str) -> bool {
    kind == "application/json" || kind.ends_with("+json")
}

/// Whether `encoding` applies to a media type (Media Type Object).
fn is_form(media_type: &str) -> bool {
    media_type.starts_with("multipart/")
        || media_type.starts_with("application/x-www-form-urlencoded")
}
