//! Normalises what a request needs to be let in.

use anyhow::Result;
use serde_json::{Value, json};

use super::{Normaliser, is_one_of, list, set};
use crate::json::entries;

impl Normaliser<'_> {
    /// Returns the sets of schemes of which any one lets a request in. A scheme is described by
    /// what it asks for: its name means nothing.
    pub fn security(&self, security: &Value) -> Result<Value> {
        let mut all = Vec::new();
        for requirement in list("security", security)? {
            // One set for each choice of a flow.
            let mut sets = vec![Vec::new()];
            for (name, scopes) in entries(requirement) {
                let scopes = list("scopes", scopes)?;
                let mut longer = Vec::new();
                for flow in self.scheme(name)? {
                    let scopes = scopes.iter().filter_map(Value::as_str);
                    let scopes: Vec<_> =
                        scopes.map(|scope| format!("{} {scope}", flow[0])).collect();
                    longer.extend(sets.iter().map(|set| [&set[..], &scopes, &flow].concat()));
                }
                sets = longer;
            }
            all.extend(sets.into_iter().map(|schemes| set(json!(schemes))));
        }
        let anybody = json!([[]]);
        Ok(if all.is_empty() { anybody } else { set(Value::Array(all)) })
    }

    /// Returns what a client has to do for a scheme, once for each flow. An operation names the
    /// scopes.
    fn scheme(&self, name: &str) -> Result<Vec<Vec<String>>> {
        let Some(scheme) = self.document["components"]["securitySchemes"].get(name) else {
            return Ok(vec![vec![name.to_owned()]]);
        };
        let mut scheme = self.followed(scheme, "")?;
        let flows = scheme.remove("flows");
        let is_header = scheme.get("in").is_some_and(|place| place == "header");
        let mut parts = Vec::new();
        for (name, value) in scheme {
            if is_one_of(&name, "description bearerFormat $at") || name.starts_with("x-") {
                continue;
            }
            parts.push(match value.as_str() {
                Some(text) if name == "scheme" || name == "name" && is_header => {
                    text.to_ascii_lowercase()
                }
                Some(text) => text.to_owned(),
                None => value.to_string(),
            });
        }
        let scheme = parts.join(" ");
        let Some(Value::Object(flows)) = flows else { return Ok(vec![vec![scheme]]) };
        let steps = |(flow, all): (&String, &Value)| {
            let urls =
                entries(all).filter(|(name, _)| *name != "scopes" && !name.starts_with("x-"));
            let urls = urls.map(|(name, url)| format!("{flow} {name} {url}"));
            [scheme.clone()].into_iter().chain(urls).collect()
        };
        Ok(flows.iter().map(steps).collect())
    }
}
