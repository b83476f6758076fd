//! One spelling for parameters, headers and bodies: what OpenAPI says to ignore is left out.

use anyhow::Result;
use serde_json::{Value, json};

use super::media::media_type;
use super::{AT, Normaliser, Object};
use crate::pointer::step;

impl Normaliser<'_> {
    /// A parameter, a header or a body: its schema, and how a value of it becomes text.
    pub fn field(&mut self, mut field: Object, is_request: bool) -> Result<Value> {
        let place = field[AT].as_str().unwrap_or_default().to_owned();
        let style = field.remove("style");
        let explode = field.remove("explode");
        if field.contains_key("content") {
            field.remove("schema");
            self.content(&mut field, is_request)?;
            return Ok(Value::Object(field));
        }
        let is_in = |place: &str| field.get("in").is_some_and(|kind| kind == place);
        let (is_query, is_cookie) = (is_in("query"), is_in("cookie"));
        let by_default = if is_query || is_cookie { "form" } else { "simple" };
        let style = style.unwrap_or_else(|| json!(by_default));
        let explode = explode.unwrap_or_else(|| json!(style == "form"));
        let mut schema = field.remove("schema").unwrap_or_else(|| json!({}));
        schema = self.schema(schema, &step(&place, "schema"));
        if let Some(schema) = schema.as_object_mut() {
            // A text cannot be null.
            schema.remove("nullable");
        }
        field.insert("schema".to_owned(), schema);
        if !is_query {
            field.remove("allowEmptyValue");
            field.remove("allowReserved");
        }
        // The styles that have no form of an empty value (Parameter Object, style examples).
        if ["spaceDelimited", "pipeDelimited", "deepObject"].iter().any(|one| style == **one) {
            field.remove("allowEmptyValue");
        }
        field.insert("encoding".to_owned(), json!({ "style": style, "explode": explode }));
        Ok(Value::Object(field))
    }

    pub fn response(&mut self, response: &Value, place: &str) -> Result<Value> {
        let mut response = self.followed(response, place)?;
        let place = response[AT].as_str().unwrap_or_default().to_owned();
        self.content(&mut response, false)?;
        if let Some(headers) = response.remove("headers") {
            let fields = self.headers(&headers, &step(&place, "headers"))?;
            response.insert("headers".to_owned(), fields);
        }
        Ok(Value::Object(response))
    }

    /// The headers of a response or of a part of a form. `Content-Type` is said by other means.
    fn headers(&mut self, headers: &Value, place: &str) -> Result<Value> {
        let mut fields = Object::new();
        for (name, header) in self.followed(headers, place)? {
            // RFC 9110, section 5.1.
            let key = name.to_lowercase();
            if key != "content-type" && name != AT {
                let header = self.followed(&header, &step(place, &name))?;
                fields.insert(key, self.field(header, false)?);
            }
        }
        Ok(Value::Object(fields))
    }

    fn content(&mut self, owner: &mut Object, is_request: bool) -> Result<()> {
        let Some(content) = owner.remove("content") else { return Ok(()) };
        let place = step(owner[AT].as_str().unwrap_or_default(), "content");
        let mut all = Object::new();
        let mut content = self.followed(&content, &place)?;
        content.remove(AT);
        for (name, media) in &content {
            let mut media = self.followed(media, &step(&place, name))?;
            let place = media[AT].as_str().unwrap_or_default().to_owned();
            let schema = media.remove("schema").unwrap_or_else(|| json!({}));
            media.insert("schema".to_owned(), self.schema(schema, &step(&place, "schema")));
            // One that is written in two ways is two.
            let plain = media_type(name);
            let encoding = media.remove("encoding");
            if let (Some(Value::Object(mut parts)), true) =
                (encoding, is_request && is_form(&plain))
            {
                let place = step(&place, "encoding");
                for (name, part) in &mut parts {
                    *part = self.encoding(part, &plain, &step(&place, name))?;
                }
                media.insert("encoding".to_owned(), Value::Object(parts));
            }
            let key = if content.contains_key(&plain) { name.clone() } else { plain };
            all.insert(key, Value::Object(media));
        }
        owner.insert("content".to_owned(), Value::Object(all));
        Ok(())
    }

    /// How a member of a form is written (Encoding Object), without what does not apply to it.
    fn encoding(&mut self, encoding: &Value, media_type: &str, place: &str) -> Result<Value> {
        let mut encoding = self.followed(encoding, place)?;
        if media_type.starts_with("multipart/") {
            encoding.retain(|name, _| !["style", "explode", "allowReserved"].contains(&&name[..]));
            if let Some(headers) = encoding.remove("headers") {
                let headers = self.headers(&headers, &step(place, "headers"))?;
                encoding.insert("headers".to_owned(), headers);
            }
        } else {
            encoding.remove("headers");
            let style = encoding.remove("style").unwrap_or_else(|| json!("form"));
            let explode = encoding.remove("explode").unwrap_or_else(|| json!(style == "form"));
            encoding.insert("style".to_owned(), style);
            encoding.insert("explode".to_owned(), explode);
        }
        Ok(Value::Object(encoding))
    }
}

/// Whether `encoding` applies to a media type (Media Type Object).
fn is_form(media_type: &str) -> bool {
    media_type.starts_with("multipart/")
        || media_type.starts_with("application/x-www-form-urlencoded")
}
