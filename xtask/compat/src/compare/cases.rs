//! What changed between two lists of parts, and between one schema and a list of cases.

use serde_json::{Value, json};

use super::matching::{label, pairs};
use super::schema::pointer;
use super::{Comparison, Here, told};
use crate::kind::Kind;
use crate::normalise::{Model, is_note};

impl Comparison<'_> {
    /// Two lists of parts.
    pub(super) fn list(
        &mut self,
        here: &Here,
        (removed, added): (Kind, Kind),
        old: &[Value],
        new: &[Value],
    ) {
        for (old, new) in pairs((self.old, old), (self.new, new)) {
            let here = here.below(&old.or(new).map(label).unwrap_or_default());
            match (old, new) {
                (Some(old), Some(new)) => self.schema(&here, old, new),
                (Some(old), None) => self.say(&here, removed, Some(told(old)), None),
                (_, new) => self.say(&here, added, None, new.map(told)),
            }
        }
    }

    /// A schema, and a list of cases of which it may be one.
    pub(super) fn case_or_list(
        &mut self,
        here: &Here,
        (written_old, old): (&Value, &Value),
        (written_new, new): (&Value, &Value),
    ) {
        let name = cases(old).or(cases(new)).map_or("oneOf", |(name, _)| name);
        let here = here.below(name);
        let list = |schema: &Value, written: &Value| {
            cases(schema).map_or_else(|| vec![written.clone()], |all| all.1.clone())
        };
        if [old, new].into_iter().any(|schema| cases(schema).is_some() && says_more(schema)) {
            return self.value(&here, Kind::Limit, Some(old), Some(new));
        }
        let (old_list, new_list) = (list(old, written_old), list(new, written_new));
        let grew = cases(old).is_none();
        let (plain, list) = if grew { (old, &new_list) } else { (new, &old_list) };
        let model = if grew { self.new } else { self.old };
        if is_wider(plain, model, list) {
            let is_same = |case: &Value| says_little(case) && case.get("type") == plain.get("type");
            let kind = match grew {
                _ if list.iter().any(is_same) => Kind::TypeName,
                true => Kind::TypeNarrowed,
                false => Kind::TypeWidened,
            };
            return self.value(&here, kind, Some(old), Some(new));
        }
        let any = json!({});
        let mut is_one = old_list.contains(&any) || new_list.contains(&any);
        for (one, other) in pairs((self.old, &old_list), (self.new, &new_list)) {
            if let (Some(one), Some(other)) = (one, other) {
                is_one = true;
                let here = here.below(&label(if grew { other } else { one }));
                self.case(&here, one, other);
            }
        }
        let kind = match (is_one, grew) {
            (false, _) => Kind::Type,
            (true, true) => Kind::TypeWidened,
            (true, false) => Kind::TypeNarrowed,
        };
        self.value(&here, kind, Some(old), Some(new));
    }

    /// A schema, and the case that it is now. The name of the generated type is another one anyway.
    fn case(&mut self, here: &Here, old: &Value, new: &Value) {
        if let (Some(old_name), Some(new_name)) = (pointer(old), pointer(new)) {
            self.lead(here, old_name, new_name);
        } else if let (Some(whole_old), Some(whole_new)) =
            (self.old.resolved(old), self.new.resolved(new))
        {
            self.limits(here, (old, &whole_old), (new, &whole_new));
        }
    }
}

/// The cases of which a value is one, and the keyword that lists them.
pub fn cases(schema: &Value) -> Option<(&'static str, &Vec<Value>)> {
    ["oneOf", "anyOf"].into_iter().find_map(|name| Some((name, schema.get(name)?.as_array()?)))
}

/// Whether a schema says no more than its type, and each of the cases has the type.
fn is_wider(schema: &Value, model: &Model, cases: &[Value]) -> bool {
    let fits = |case: &Value| {
        let case = model.resolved(case).unwrap_or_default();
        schema.get("type").is_none_or(|kind| case.get("type") == Some(kind))
    };
    says_little(schema) && cases.iter().all(fits)
}

/// Whether a schema says more than its type and its cases.
fn says_more(schema: &Value) -> bool {
    let mut keywords = schema.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
    keywords
        .any(|name| !["type", "oneOf", "anyOf", "discriminator"].contains(&name) && !is_note(name))
}

/// Whether a schema says no more than its type.
fn says_little(schema: &Value) -> bool {
    let keywords = schema.as_object();
    keywords.is_some_and(|schema| schema.keys().all(|name| name == "type" || is_note(name)))
}
