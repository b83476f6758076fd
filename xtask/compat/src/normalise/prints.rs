//! Fingerprints of schemas, which do not depend on the names of types.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use super::meaning;

/// A fingerprint of each schema. Two types with other names and the same fingerprint are most
/// likely one type.
#[derive(Default)]
pub struct Prints(BTreeMap<String, u64>);

impl Prints {
    /// Computes the fingerprints of all schemas. They cover what is up to four references away.
    pub fn of(schemas: &BTreeMap<String, Value>) -> Self {
        let texts: Vec<(&String, String)> = schemas
            .iter()
            .map(|(pointer, schema)| (pointer, meaning(schema).to_string()))
            .collect();
        let mut prints = Self(BTreeMap::new());
        for _ in 0..4 {
            let next = texts.iter().map(|(pointer, text)| {
                let mut hasher = DefaultHasher::new();
                prints.without_names(text).hash(&mut hasher);
                ((*pointer).clone(), hasher.finish())
            });
            prints = Self(next.collect());
        }
        prints
    }

    /// Returns a schema as text, with the fingerprint of each type in the place of its name.
    pub fn nameless(&self, schema: &Value) -> String {
        self.without_names(&meaning(schema).to_string())
    }

    fn without_names(&self, text: &str) -> String {
        const REFERENCE: &str = "\"$ref\":\"";
        let mut parts = text.split(REFERENCE);
        let mut nameless = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (pointer, rest) = part.split_once('"').unwrap_or((part, ""));
            let print = self.0.get(pointer).copied().unwrap_or_default();
            let _ = write!(nameless, "{REFERENCE}{print}\"{rest}");
        }
        nameless
    }
}
