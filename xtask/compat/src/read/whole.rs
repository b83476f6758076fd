//! Reads values that are compared as a whole, because they hardly ever change, such as callbacks.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{Keywords, Reader, target};
use crate::json::{Json, decoded, unified};
use crate::model::{Pointer, Whole};

impl<'t> Reader<'t> {
    /// A value without default values. References to schemas stay, and all other references are
    /// replaced by their targets.
    pub fn whole(&mut self, json: &Json<'t>) -> Whole {
        let mut references = BTreeSet::new();
        let value = plain(self.document.value, json, &mut references, &mut Vec::new());
        for pointer in &references {
            self.referenced(pointer.clone());
        }
        Whole { json: value.to_string().into(), references }
    }
}

/// `open` are the references that are being followed.
fn plain(
    document: &Value,
    json: &Json<'_>,
    references: &mut BTreeSet<Pointer>,
    open: &mut Vec<String>,
) -> Value {
    if let Some(reference) = json.reference() {
        let pointer = decoded(reference);
        let target = target(&Json::root(document), reference).ok().flatten();
        if pointer.starts_with(Pointer::SCHEMAS) && target.is_some() {
            references.insert(Pointer::new(&pointer));
        } else if let Some(target) = target.filter(|_| !open.contains(&pointer)) {
            open.push(pointer);
            let value = plain(document, &target, references, open);
            open.pop();
            return value;
        }
        return Value::Object(Map::from_iter([("$ref".to_owned(), pointer.into())]));
    }
    if json.is_array() {
        let mut items: Vec<Value> =
            json.items().map(|item| plain(document, &item, references, open)).collect();
        if items.iter().all(Value::is_string) {
            // OpenAPI has no list of strings whose order matters.
            items.sort_by(|one, other| one.as_str().cmp(&other.as_str()));
        }
        return Value::Array(items);
    }
    if !json.is_object() {
        return unified(json.value);
    }
    let left = Keywords::of(json).unread.into_iter();
    left.map(|(name, value)| (name.to_owned(), plain(document, &value, references, open))).collect()
}
