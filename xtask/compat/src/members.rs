//! What a value of JSON holds, and by which names it is found.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::Value;

/// The values one step further, in their order. The members of an object are found by their names.
/// The items of a list are found by their names if each has a different one, else by their
/// positions.
pub(crate) fn members(value: &Value) -> Vec<(Cow<'_, str>, &Value)> {
    match value {
        Value::Object(members) => {
            members.iter().map(|(name, member)| (name.into(), member)).collect()
        }
        Value::Array(items) => {
            let mut seen = HashSet::new();
            let named = items.iter().map(|item| {
                let name = name_of(item)?;
                seen.insert(name.clone()).then_some((name, item))
            });
            named.collect::<Option<_>>().unwrap_or_else(|| {
                items.iter().enumerate().map(|(at, item)| (at.to_string().into(), item)).collect()
            })
        }
        _ => Vec::new(),
    }
}

/// The name of an item: the text itself, its `name`, the component that it refers to, its `error`.
fn name_of(item: &Value) -> Option<Cow<'_, str>> {
    match item {
        Value::String(name) => Some(name.into()),
        Value::Number(number) => Some(number.to_string().into()),
        item => {
            let name = item["name"].as_str();
            let name = name.or_else(|| item["$ref"].as_str()?.rsplit('/').next());
            name.map(Cow::from).or_else(|| Some(item["error"].as_u64()?.to_string().into()))
        }
    }
}

/// The items of a list; none of anything else.
pub(crate) fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

/// The value one step further, and its step in a JSON pointer, unescaped.
pub(crate) fn member<'a>(value: &'a Value, step: &str) -> Option<(String, &'a Value)> {
    if let Value::Object(members) = value {
        return Some((step.to_owned(), members.get(step)?));
    }
    let items = members(value);
    let position = items.iter().position(|(name, _)| name == step)?;
    Some((position.to_string(), items[position].1))
}
