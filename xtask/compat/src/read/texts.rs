//! Collects the text for people, such as descriptions and examples.

use std::collections::BTreeMap;

use super::Keywords;
use super::schema::has_named_type;
use super::whole::has_free_names;
use crate::json::Json;
use crate::keyword::{Rule, keyword};

/// Texts as JSON, by their JSON pointers.
pub type Texts = BTreeMap<String, String>;

/// Collects the texts of a document. `info.version` is not one of them.
pub fn texts(document: &Json<'_>) -> Texts {
    let mut all = Texts::new();
    let info = document.get("info").into_iter().flat_map(|one| one.entries());
    let info = info.filter(|(name, _)| *name != "version").map(|(_, value)| value);
    let tags = document.get("tags").into_iter().flat_map(|one| one.items());
    all.extend(info.chain(tags).map(|value| (value.place.to_string(), value.to_string())));
    for (name, value) in document.entries() {
        if !["info", "tags"].contains(&name) {
            collect(&value, &mut all);
        }
    }
    all
}

fn collect(json: &Json<'_>, all: &mut Texts) {
    json.items().for_each(|item| collect(&item, all));
    if json.reference().is_some() {
        return;
    }
    let names_are_free = has_free_names(json);
    let is_text = |name: &str| {
        let is_words = keyword(name).is_some_and(|keyword| keyword.rule == Rule::Words);
        is_words && !names_are_free && !(name == "title" && has_named_type(json))
    };
    for (name, value) in Keywords::of(json).unread {
        if is_text(name) {
            all.insert(value.place.to_string(), value.to_string());
        } else if !name.starts_with("x-") {
            collect(&value, all);
        }
    }
}
