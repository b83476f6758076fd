//! Reads security requirements and security schemes.

use std::collections::BTreeSet;

use anyhow::Result;

use super::{Reader, list};
use crate::json::Json;
use crate::model::Requirements;

impl<'t> Reader<'t> {
    /// Returns the security requirements, of which a request has to satisfy one. Each is a set of
    /// security schemes and scopes.
    pub fn security(&self, security: Option<Json<'t>>) -> Result<Requirements> {
        let mut all = BTreeSet::new();
        for requirement in list("security", security)? {
            // A scheme with several OAuth flows makes one requirement for each flow.
            let mut sets = vec![BTreeSet::new()];
            for (name, scopes) in requirement.entries() {
                let scopes: Vec<_> =
                    list("scopes", Some(scopes))?.filter_map(|one| one.text()).collect();
                let mut longer = Vec::new();
                for flow in self.scheme(name)? {
                    let scopes = scopes.iter().map(|scope| format!("{} {scope}", flow[0]));
                    let scheme: BTreeSet<String> = scopes.chain(flow.iter().cloned()).collect();
                    longer.extend(sets.iter().map(|set| set | &scheme));
                }
                sets = longer;
            }
            all.extend(sets);
        }
        let anybody = BTreeSet::from([BTreeSet::new()]);
        Ok(if all.is_empty() { anybody } else { all })
    }

    /// Describes a security scheme by its keywords, once for each OAuth flow. The scopes are in the
    /// security requirement.
    fn scheme(&self, name: &str) -> Result<Vec<Vec<String>>> {
        let schemes = self.find("#/components/securitySchemes");
        let Some(scheme) = schemes.and_then(|schemes| schemes.get(name)) else {
            return Ok(vec![vec![name.to_owned()]]);
        };
        let scheme = self.followed(&scheme)?;
        let is_header = scheme.text_of("in") == Some("header");
        let mut parts = Vec::new();
        for (name, value) in scheme.entries() {
            let is_note = ["bearerFormat", "description", "flows"].contains(&name);
            if is_note || name.starts_with("x-") || value.is_null() {
                continue;
            }
            parts.push(match value.text() {
                Some(text) if name == "scheme" || name == "name" && is_header => {
                    text.to_ascii_lowercase()
                }
                _ => value.shown(),
            });
        }
        let own = parts.join(" ");
        let Some(flows) = scheme.get("flows").filter(|flows| flows.is_object()) else {
            return Ok(vec![vec![own]]);
        };
        let steps = flows.entries().map(|(flow, all)| {
            let urls = all
                .entries()
                .filter(|(name, _)| *name != "scopes" && !name.starts_with("x-"))
                .map(|(name, url)| format!("{flow} {name} {url}"));
            [own.clone()].into_iter().chain(urls).collect()
        });
        Ok(steps.collect())
    }
}
