//! Values that are compared as a whole, because documents hardly ever change them: callbacks,
//! links, the encoding of a form.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::media::is_form;
use super::{Keywords, Reader, target};
use crate::keyword::{Rule, keyword};
use crate::model::{Pointer, Whole, hash};
use crate::tree::{Json, decoded};

impl<'t> Reader<'t> {
    /// A value without texts for people, and without what means the same as its absence. References
    /// to schemas stay, and every other reference is followed.
    pub fn whole(&mut self, json: Json<'t>) -> Whole {
        let mut inner = Inner::default();
        let value = self.value(json, &mut inner);
        self.of(&value, inner)
    }

    /// How the members of a form are encoded (Encoding Object), without what does not apply to the
    /// media type. None if nothing encodes them.
    pub fn encoding(&mut self, json: Json<'t>, media_type: &str) -> Option<Whole> {
        if !is_form(media_type) {
            return None;
        }
        let is_multipart = media_type.starts_with("multipart/");
        let mut inner = Inner::default();
        let mut all = self.value(json, &mut inner);
        for part in all.as_object_mut()?.values_mut().filter_map(Value::as_object_mut) {
            part.retain(|name, value| match &name[..] {
                "allowReserved" => !is_multipart,
                "style" => !is_multipart && value != "form",
                "explode" => !is_multipart && *value != true,
                "headers" => is_multipart,
                _ => true,
            });
        }
        all.as_object_mut()?.retain(|_, part| part.as_object().is_none_or(|part| !part.is_empty()));
        Some(self.of(&all, inner)).filter(|whole| &*whole.json != "{}")
    }

    fn of(&mut self, value: &Value, inner: Inner) -> Whole {
        let Inner { references, words, open: _ } = inner;
        for pointer in &references {
            self.referenced(pointer.clone());
        }
        Whole { json: value.to_string().into(), references, words: hash(&words) }
    }

    fn value(&self, json: Json<'t>, inner: &mut Inner) -> Value {
        if let Some(reference) = json.reference() {
            let pointer = decoded(reference);
            let target = target(self.tree, reference).ok().flatten();
            if pointer.starts_with(Pointer::TYPES) && target.is_some() {
                inner.references.insert(Pointer::new(&pointer));
            } else if let Some(target) = target.filter(|_| !inner.open.contains(&pointer)) {
                inner.open.push(pointer);
                let value = self.value(target, inner);
                inner.open.pop();
                return value;
            }
            return Value::Object(Map::from_iter([("$ref".to_owned(), pointer.into())]));
        }
        if json.is_list() {
            return json.items().map(|item| self.value(item, inner)).collect();
        }
        if !json.is_object() {
            return serde_json::from_str(&json.to_string()).unwrap_or_default();
        }
        // A member may be called `description`, and then its value is no text.
        let is_map = ["default", "example", "mapping"].contains(&&json.name()[..]);
        let is_words = |name: &str, value: Json<'_>| {
            let words = keyword(name).is_some_and(|keyword| keyword.rule == Rule::Words);
            words && value.text().is_some() && !is_map
        };
        let mut members = Map::new();
        for (name, value) in Keywords::of(json).left {
            if is_words(name, value) {
                inner.words.push(value.to_string());
            } else {
                members.insert(name.to_owned(), self.value(value, inner));
            }
        }
        Value::Object(members)
    }
}

/// What stands inside a value.
#[derive(Default)]
struct Inner {
    references: BTreeSet<Pointer>,
    words: Vec<String>,
    /// The references that are being followed.
    open: Vec<String>,
}
