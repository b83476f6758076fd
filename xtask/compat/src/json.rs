//! Documents in JSON, and where their values are in the text. A member that is there twice is
//! refused: a reader may take either of the two (RFC 8259, section 4).

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::iter::once;

use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value, from_str};

/// Parses a text.
pub fn parse(text: &str) -> serde_json::Result<Value> {
    from_str(text).map(|Json(value)| value)
}

struct Json(Value);

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader).map(Self)
    }
}

struct Reader;

macro_rules! scalars {
    ($($visit:ident($scalar:ty)),*) => {
        $(fn $visit<E>(self, value: $scalar) -> Result<Value, E> {
            Ok(value.into())
        })*
    };
}

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    scalars!(visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64), visit_str(&str));

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(Json(item)) = list.next_element()? {
            items.push(item);
        }
        Ok(items.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(name) = object.next_key::<String>()? {
            if members.contains_key(&name) {
                return Err(A::Error::custom(format!("the member {name:?} is there twice")));
            }
            let Json(value) = object.next_value()?;
            members.insert(name, value);
        }
        Ok(members.into())
    }
}

/// Where a value begins in a text.
#[derive(Clone, Copy, Serialize)]
pub struct Position {
    /// From 1.
    pub line: usize,
    /// In bytes, from 1.
    pub column: usize,
}

/// Where values begin in a text that was parsed, each by the names and positions that lead to it.
pub fn positions(text: &str, paths: &[Vec<String>]) -> Vec<Position> {
    let mut found = vec![text; paths.len()];
    if let Ok(root) = from_str(text) {
        find(root, paths.iter().map(Vec::as_slice).zip(&mut found).collect());
    }
    let starts: Vec<usize> =
        once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let position = |value: &str| {
        let at = value.as_ptr().addr() - text.as_ptr().addr();
        let line = starts.partition_point(|start| *start <= at);
        Position { line, column: at - starts[line - 1] + 1 }
    };
    found.into_iter().map(position).collect()
}

/// Finds the texts of values below this one, each by its path. All of them are found at once: so
/// the time does not grow with their number.
fn find<'a>(value: &'a RawValue, wanted: Vec<(&[String], &mut &'a str)>) {
    let text = value.get();
    let mut inside = BTreeMap::<&str, Vec<_>>::new();
    for (path, found) in wanted {
        if let Some((step, rest)) = path.split_first() {
            inside.entry(step).or_default().push((rest, found));
        } else {
            *found = text;
        }
    }
    if inside.is_empty() {
        return;
    }
    let members: HashMap<String, &RawValue> = if text.starts_with('[') {
        let items: Vec<&RawValue> = from_str(text).unwrap_or_default();
        items.into_iter().enumerate().map(|(at, item)| (at.to_string(), item)).collect()
    } else {
        from_str(text).unwrap_or_default()
    };
    for (step, wanted) in inside {
        if let Some(value) = members.get(step) {
            find(value, wanted);
        }
    }
}
