//! Reads parameters, headers, bodies and responses: leaves out what OpenAPI says to ignore.

use std::collections::BTreeMap;
use std::rc::Rc;

use anyhow::Result;

use super::media::media_type;
use super::schema::Position;
use super::{Keywords, Reader};
use crate::model::{Carried, Field, Media, Null, Response, Schema};
use crate::tree::Json;

impl<'t> Reader<'t> {
    /// Reads a parameter, a header or a body.
    pub fn field(&mut self, json: Json<'t>, is_request: bool) -> Result<Field> {
        let mut keywords = Keywords::of(json);
        let name = keywords.take_text("name").unwrap_or_default().into();
        let within = keywords.take_text("in").unwrap_or_default();
        let is_required = keywords.take_flag("required");
        let [schema, style, explode] =
            ["schema", "style", "explode"].map(|keyword| keywords.take(keyword));
        let reserved = keywords.take("allowReserved").filter(|_| within == "query");
        let empty = keywords.take("allowEmptyValue").filter(|_| within == "query");
        let mut whole = BTreeMap::new();
        let carried = if let Some(content) = keywords.take("content") {
            Carried::Content(self.content(content, is_request)?)
        } else {
            let by_default = if ["query", "cookie"].contains(&within) { "form" } else { "simple" };
            let style = style.and_then(Json::text).unwrap_or(by_default);
            let explode = explode.map_or(style == "form", Json::is_true);
            // These styles have no form for an empty value (Parameter Object, style examples).
            let has_no_empty = ["spaceDelimited", "pipeDelimited", "deepObject"].contains(&style);
            let empty = empty.filter(|_| !has_no_empty);
            let mut schema = self.schema_of(json, schema);
            // No value of these types has a reserved character.
            let has_no_reserved = matches!(schema.kind.as_deref(), Some("boolean" | "integer"));
            let reserved = reserved.filter(|_| !has_no_reserved);
            for (name, json) in [("allowReserved", reserved), ("allowEmptyValue", empty)] {
                whole.extend(json.map(|json| (name, self.whole(json))));
            }
            if schema.notes.null != Null::No {
                // A text cannot be null.
                Rc::make_mut(&mut schema).notes.null = Null::No;
            }
            Carried::Text { schema, style: style.into(), explode }
        };
        let within = within.into();
        Ok(Field { name, within, is_required, carried, whole, notes: keywords.notes() })
    }

    pub fn response(&mut self, json: Json<'t>) -> Result<Response> {
        let mut keywords = Keywords::of(self.followed(json)?);
        let content = keywords.take("content");
        let content = content.map(|content| self.content(content, false)).transpose()?;
        let headers = match keywords.take("headers") {
            Some(headers) => self.headers(headers)?,
            None => BTreeMap::new(),
        };
        let links = keywords.take("links").map(|links| self.whole(links));
        Ok(Response { content, headers, links, notes: keywords.notes() })
    }

    /// Reads the headers of a response. The media type replaces `Content-Type`.
    fn headers(&mut self, json: Json<'t>) -> Result<BTreeMap<String, Field>> {
        let mut fields = BTreeMap::new();
        for (name, header) in self.followed(json)?.entries() {
            // RFC 9110, section 5.1.
            let key = name.to_lowercase();
            if key != "content-type" {
                let header = self.followed(header)?;
                fields.insert(key, self.field(header, false)?);
            }
        }
        Ok(fields)
    }

    fn content(&mut self, json: Json<'t>, is_request: bool) -> Result<BTreeMap<String, Media>> {
        let content = self.followed(json)?;
        let mut all = BTreeMap::new();
        for (name, media) in content.entries() {
            let media = self.followed(media)?;
            let plain = media_type(name);
            let mut keywords = Keywords::of(media);
            let schema = keywords.take("schema");
            let encoding = keywords.take("encoding").filter(|_| is_request);
            let media = Media {
                schema: self.schema_of(media, schema),
                encoding: encoding.and_then(|encoding| self.encoding(encoding, &plain)),
                notes: keywords.notes(),
            };
            // A media type that is written in two ways is listed twice.
            let is_other = **name != *plain && content.get(&plain).is_some();
            all.insert(if is_other { name.to_string() } else { plain }, media);
        }
        Ok(all)
    }

    /// Reads the schema of a field or a media type. Without one, every value is allowed.
    fn schema_of(&mut self, owner: Json<'t>, schema: Option<Json<'t>>) -> Rc<Schema> {
        schema.map_or_else(
            || Rc::new(Schema::any(self.tree.below(owner.place(), "schema"))),
            |schema| self.schema(schema, Position::Inner),
        )
    }
}
