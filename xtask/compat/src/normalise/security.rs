//! One spelling for what a request needs to be let in.

use anyhow::Result;
use serde_json::{Value, json};

use super::{AT, Normaliser, list, set};

impl Normaliser<'_> {
    /// The sets of schemes of which any one lets a request in. Each scheme is what it asks for: its
    /// name means nothing.
    pub fn security(&self, security: &Value) -> Result<Value> {
        let mut all = Vec::new();
        for requirement in list(security)? {
            // One set for each choice of a flow.
            let mut sets = vec![Vec::new()];
            for (name, scopes) in requirement.as_object().into_iter().flatten() {
                let scopes = list(scopes)?;
                let mut longer = Vec::new();
                for flow in self.scheme(name)? {
                    let scheme = flow.first().cloned().unwrap_or_default();
                    let texts = scopes.iter().filter_map(Value::as_str);
                    let texts = texts.map(|scope| format!("{scheme} {scope}"));
                    let texts: Vec<String> = texts.chain(flow).collect();
                    longer.extend(sets.iter().map(|set: &Vec<String>| [&set[..], &texts].concat()));
                }
                sets = longer;
            }
            all.extend(sets.into_iter().map(|schemes| set(json!(schemes))));
        }
        let anybody = json!([[]]);
        Ok(if all.is_empty() { anybody } else { set(Value::Array(all)) })
    }

    /// What a client has to do for a scheme, in each way that there is. The scopes are those that
    /// an operation names.
    fn scheme(&self, name: &str) -> Result<Vec<Vec<String>>> {
        let Some(scheme) = self.document["components"]["securitySchemes"].get(name) else {
            return Ok(vec![vec![name.to_owned()]]);
        };
        let mut scheme = self.followed(scheme, "")?;
        scheme.retain(|name, _| {
            !["description", "bearerFormat", AT].contains(&name.as_str()) && !name.starts_with("x-")
        });
        let is_header = scheme.get("in").is_some_and(|place| place == "header");
        for (name, value) in &mut scheme {
            if let (true, Value::String(text)) =
                (name == "scheme" || name == "name" && is_header, value)
            {
                text.make_ascii_lowercase();
            }
        }
        let flows = scheme.remove("flows");
        let parts: Vec<String> = scheme
            .into_iter()
            .map(|(_, part)| part.as_str().map_or_else(|| part.to_string(), str::to_owned))
            .collect();
        let scheme = parts.join(" ");
        let Some(Value::Object(flows)) = flows else { return Ok(vec![vec![scheme]]) };
        let urls = |flow: &str, urls: &Value| -> Vec<String> {
            let urls = urls.as_object().into_iter().flatten();
            let urls = urls.filter(|(name, _)| *name != "scopes" && !name.starts_with("x-"));
            let urls = urls.map(|(name, url)| format!("{flow} {name} {url}"));
            [scheme.clone()].into_iter().chain(urls).collect()
        };
        Ok(flows.iter().map(|(flow, all)| urls(flow, all)).collect())
    }
}
