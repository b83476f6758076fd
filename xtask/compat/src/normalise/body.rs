//! Normalises parameters, headers and bodies: leaves out what OpenAPI says to ignore.

use anyhow::Result;
use serde_json::{Value, json};

use super::media::media_type;
use super::{AT, Normaliser, Object, is_one_of};
use crate::json::text;
use crate::pointer::step;

impl Normaliser<'_> {
    /// Normalises a parameter, a header or a body: its schema, and how a value of it becomes text.
    pub fn field(&mut self, mut field: Object, is_request: bool) -> Result<Value> {
        if field.contains_key("content") {
            field.retain(|name, _| !is_one_of(name, "schema style explode"));
            self.content(&mut field, is_request)?;
            return Ok(Value::Object(field));
        }
        let kind = field.get("in").map_or("", text).to_owned();
        let by_default = if is_one_of(&kind, "query cookie") { "form" } else { "simple" };
        let [style, explode] = style(&mut field, by_default);
        let mut schema = self.schema_of(&mut field);
        if let Some(schema) = schema.as_object_mut() {
            // A text cannot be null.
            schema.remove("nullable");
        }
        field.insert("schema".to_owned(), schema);
        if kind != "query" {
            field.remove("allowReserved");
        }
        // These styles have no form for an empty value (Parameter Object, style examples).
        let has_no_empty = is_one_of(text(&style), "spaceDelimited pipeDelimited deepObject");
        if kind != "query" || has_no_empty {
            field.remove("allowEmptyValue");
        }
        field.insert("encoding".to_owned(), json!({ "style": style, "explode": explode }));
        Ok(Value::Object(field))
    }

    pub fn response(&mut self, response: &Value, place: &str) -> Result<Value> {
        let mut response = self.followed(response, place)?;
        self.content(&mut response, false)?;
        self.headers(&mut response)?;
        Ok(Value::Object(response))
    }

    /// Normalises the headers of a response, or of a part of a form. The media type replaces
    /// `Content-Type`.
    fn headers(&mut self, owner: &mut Object) -> Result<()> {
        let Some(headers) = owner.remove("headers") else { return Ok(()) };
        let place = step(text(&owner[AT]), "headers");
        let mut fields = Object::new();
        for (name, header) in self.followed(&headers, &place)? {
            // RFC 9110, section 5.1.
            let key = name.to_lowercase();
            if key != "content-type" && name != AT {
                let header = self.followed(&header, &step(&place, &name))?;
                fields.insert(key, self.field(header, false)?);
            }
        }
        owner.insert("headers".to_owned(), Value::Object(fields));
        Ok(())
    }

    fn content(&mut self, owner: &mut Object, is_request: bool) -> Result<()> {
        let Some(content) = owner.remove("content") else { return Ok(()) };
        let place = step(text(&owner[AT]), "content");
        let mut all = Object::new();
        let mut content = self.followed(&content, &place)?;
        content.remove(AT);
        for (name, media) in &content {
            let mut media = self.followed(media, &step(&place, name))?;
            let schema = self.schema_of(&mut media);
            media.insert("schema".to_owned(), schema);
            let plain = media_type(name);
            let encoding = media.remove("encoding");
            if let (Some(Value::Object(mut parts)), true) =
                (encoding, is_request && is_form(&plain))
            {
                let place = step(text(&media[AT]), "encoding");
                for (name, part) in &mut parts {
                    *part = self.encoding(part, &plain, &step(&place, name))?;
                }
                media.insert("encoding".to_owned(), Value::Object(parts));
            }
            // A media type that is written in two ways is listed twice.
            let key = if content.contains_key(&plain) { name.clone() } else { plain };
            all.insert(key, Value::Object(media));
        }
        owner.insert("content".to_owned(), Value::Object(all));
        Ok(())
    }

    /// Removes the schema of a field or of a media type, and normalises it.
    fn schema_of(&mut self, owner: &mut Object) -> Value {
        let schema = owner.remove("schema").unwrap_or_else(|| json!({}));
        self.schema(schema, &step(text(&owner[AT]), "schema"))
    }

    /// Normalises the encoding of a form's member (Encoding Object), without what does not apply.
    fn encoding(&mut self, encoding: &Value, media_type: &str, place: &str) -> Result<Value> {
        let mut encoding = self.followed(encoding, place)?;
        if media_type.starts_with("multipart/") {
            encoding.retain(|name, _| !is_one_of(name, "style explode allowReserved"));
            self.headers(&mut encoding)?;
        } else {
            encoding.remove("headers");
            let [style, explode] = style(&mut encoding, "form");
            encoding.insert("style".to_owned(), style);
            encoding.insert("explode".to_owned(), explode);
        }
        Ok(Value::Object(encoding))
    }
}

/// Removes `style` and `explode`. A missing `explode` is true for the style `form`.
fn style(object: &mut Object, by_default: &str) -> [Value; 2] {
    let style = object.remove("style").unwrap_or_else(|| json!(by_default));
    let explode = object.remove("explode").unwrap_or_else(|| json!(style == "form"));
    [style, explode]
}

/// Whether `encoding` applies to a media type (Media Type Object).
fn is_form(media_type: &str) -> bool {
    media_type.starts_with("multipart/")
        || media_type.starts_with("application/x-www-form-urlencoded")
}
