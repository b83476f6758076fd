//! What changed about the encoding of a form's members (Encoding Object).

use serde_json::{Value, json};

use super::Comparison;
use super::cursor::Cursor;
use crate::kind::Kind;
use crate::normalise::{Model, includes, media_type};

impl Comparison<'_> {
    /// Compares the `encoding` of a media type, member by member.
    pub(super) fn encodings(&mut self, at: &Cursor<'_>, media: &Cursor<'_>) {
        let [old, new] = self.resolved(&media.below("schema")).map(Option::unwrap_or_default);
        for (name, at) in at.members() {
            // The encoding of a new member is judged with the member.
            if let (Some(was), Some(is)) =
                (content_type(self.old, &old, name), content_type(self.new, &new, name))
            {
                self.encoding(&at.located(), was, is);
            }
        }
    }

    /// Compares how a member is encoded. `was` and `is` are its media types by default.
    fn encoding(&mut self, at: &Cursor<'_>, was: &str, is: &str) {
        let types = |encoding: Option<&Value>, default: &str| {
            let own = encoding.and_then(|encoding| encoding["contentType"].as_str());
            let mut all: Vec<_> = own.unwrap_or(default).split(',').map(media_type).collect();
            all.sort();
            all
        };
        let (was, is) = (types(at.old, was), types(at.new, is));
        if was != is {
            let is_known = was.iter().all(|was| is.iter().any(|is| includes(is, was)));
            let kind = if is_known { Kind::MediaTypeWidened } else { Kind::Encoding };
            let [was, is] = [was, is].map(|types| types.join(", "));
            self.report_text(&at.below("contentType"), kind, Some(&was), Some(&is));
        }
        for (name, at) in at.keywords() {
            let is_default = match name {
                "style" => at.old.xor(at.new) == Some(&json!("form")),
                "explode" => at.old.xor(at.new) == Some(&json!(true)),
                _ => false,
            };
            match name {
                _ if is_default => {}
                "contentType" => {}
                "headers" => self.fields(&at),
                "allowReserved" if at.old.is_none() => self.value(&at, Kind::EncodingAdded),
                "style" | "explode" | "allowReserved" => self.value(&at, Kind::Encoding),
                _ => self.other(&at, name),
            }
        }
    }
}

/// The media type of a member that has no `contentType`; none if the schema has no such member.
fn content_type(model: &Model, schema: &Value, member: &str) -> Option<&'static str> {
    let member = model.resolved(schema["properties"].get(member)?).unwrap_or_default();
    let kind = if member["type"] == "array" { &member["items"] } else { &member };
    Some(match (kind["type"].as_str(), kind["format"].as_str()) {
        (Some("string"), Some("binary")) => "application/octet-stream",
        (Some("object"), _) => "application/json",
        _ if kind.get("$ref").is_some() => "application/json",
        _ => "text/plain",
    })
}
