//! Reads parameters, headers, bodies and responses: leaves out what OpenAPI says to ignore.

use std::collections::BTreeMap;
use std::rc::Rc;

use anyhow::Result;

use super::media::{is_form, media_type};
use super::schema::Position;
use super::{Keywords, Reader};
use crate::json::{Json, step};
use crate::model::{Carried, Field, Media, Null, Response, Schema};

impl<'t> Reader<'t> {
    /// Reads a parameter, a header or a body.
    pub fn field(&mut self, json: &Json<'t>, is_request: bool) -> Result<Field> {
        let mut keywords = Keywords::of(json);
        let name = keywords.take_text("name").unwrap_or_default().into();
        let within = keywords.take_text("in").unwrap_or_default();
        let is_required = keywords.take_flag("required");
        let [schema, style, explode] =
            ["schema", "style", "explode"].map(|keyword| keywords.take(keyword));
        let carried = if let Some(content) = keywords.take("content") {
            Carried::Content(self.content(&content, is_request)?)
        } else {
            let by_default = if ["query", "cookie"].contains(&within) { "form" } else { "simple" };
            let style = style.and_then(|one| one.text()).unwrap_or(by_default);
            let explode = explode.map_or(style == "form", |value| *value == true);
            let mut schema = self.schema_of(json, schema);
            if schema.notes.null != Null::No {
                // A text cannot be null.
                Rc::make_mut(&mut schema).notes.null = Null::No;
            }
            Carried::Text { schema, style: style.into(), explode }
        };
        if within != "query" {
            keywords.left.retain(|name, _| !["allowReserved", "allowEmptyValue"].contains(name));
        }
        let notes = self.notes(keywords, "field");
        Ok(Field { name, within: within.into(), is_required, carried, notes })
    }

    pub fn response(&mut self, json: &Json<'t>) -> Result<Response> {
        let mut keywords = Keywords::of(&self.followed(json)?);
        let content = keywords.take("content");
        let content = content.map(|content| self.content(&content, false)).transpose()?;
        let headers = match keywords.take("headers") {
            Some(headers) => self.headers(&headers)?,
            None => BTreeMap::new(),
        };
        Ok(Response { content, headers, notes: self.notes(keywords, "response") })
    }

    /// Reads the headers of a response. The media type replaces `Content-Type`.
    fn headers(&mut self, json: &Json<'t>) -> Result<BTreeMap<String, Field>> {
        let mut fields = BTreeMap::new();
        for (name, header) in self.followed(json)?.entries() {
            // RFC 9110, section 5.1.
            let key = name.to_lowercase();
            if key != "content-type" {
                let header = self.followed(&header)?;
                fields.insert(key, self.field(&header, false)?);
            }
        }
        Ok(fields)
    }

    fn content(&mut self, json: &Json<'t>, is_request: bool) -> Result<BTreeMap<String, Media>> {
        let content = self.followed(json)?;
        let mut all = BTreeMap::new();
        for (name, media) in content.entries() {
            let media = self.followed(&media)?;
            let plain = media_type(name);
            let mut keywords = Keywords::of(&media);
            let schema = keywords.take("schema");
            if !is_request || !is_form(&plain) {
                keywords.left.remove("encoding");
            }
            let schema = self.schema_of(&media, schema);
            let media = Media { schema, notes: self.notes(keywords, "media") };
            // A media type that is written in two ways is listed twice.
            let is_other = name != plain && content.get(&plain).is_some();
            all.insert(if is_other { name.to_string() } else { plain }, media);
        }
        Ok(all)
    }

    /// Reads the schema of a field or a media type. Without one, every value is allowed.
    fn schema_of(&mut self, owner: &Json<'t>, schema: Option<Json<'t>>) -> Rc<Schema> {
        schema.map_or_else(
            || Rc::new(Schema::any(step(&owner.place, "schema"))),
            |schema| self.schema(&schema, Position::Inner),
        )
    }
}
