//! What changed between two lists of parts, and between one schema and a list of cases.

use serde_json::Value;

use super::matching::pairs;
use super::schema::pointer;
use super::{Comparison, Here};
use crate::change::Told;
use crate::kind::Kind;
use crate::normalise::{CHILDREN, Model, VALUES, is_note};

impl Comparison<'_> {
    /// Two lists of parts, and the place of the discriminator that chooses from them.
    pub(super) fn list(
        &mut self,
        here: &Here,
        tag: Option<&Here>,
        (removed, added): (Kind, Kind),
        old: &[Value],
        new: &[Value],
    ) {
        for (old, new) in pairs((self.old, old), (self.new, new)) {
            let here = here.of(old, new);
            match (old, new) {
                (Some(old), Some(new)) => {
                    self.schema(&here, old, new);
                    if let (Some(tag), Some(old), Some(new)) =
                        (tag, old.get(VALUES), new.get(VALUES))
                    {
                        self.values(&tag.below("mapping"), Some(old), Some(new));
                    }
                }
                (Some(old), None) => self.say(&here, removed, Some(Told::of(old)), None),
                (_, new) => self.say(&here, added, None, new.map(Told::of)),
            }
        }
    }

    /// Two lists of cases, and the discriminator that chooses from them.
    pub(super) fn both_cases(&mut self, here: &Here, old: &Value, new: &Value) {
        let [tagged_old, tagged_new] = [old, new].map(|schema| schema.get("discriminator"));
        let tag = here.below("discriminator").of(tagged_old, tagged_new);
        let mut lists = Vec::new();
        if let (Some((was, old)), Some((is, new))) = (cases(old), cases(new)) {
            let here = here.below(is);
            if was != is {
                let kind = match (overlap(self.new, new) || overlap(self.old, old), is) {
                    (false, _) => Kind::Composition,
                    (true, "oneOf") => Kind::CompositionTightened,
                    _ => Kind::CompositionLoosened,
                };
                self.say(&here, kind, Some(Told::text(was)), Some(Told::text(is)));
            }
            lists.push((here, old, new));
        }
        let children = |schema: &'_ Value| schema.get(CHILDREN).and_then(Value::as_array).cloned();
        let (old_children, new_children) = (children(old), children(new));
        if let (Some(old), Some(new)) = (&old_children, &new_children) {
            lists.push((tag.clone(), old, new));
        }
        for (here, old, new) in lists {
            self.list(&here, Some(&tag), (Kind::PartRemoved, Kind::PartAdded), old, new);
        }
        match (tagged_old, tagged_new) {
            (Some(old), Some(new)) => {
                let here = tag.below("propertyName");
                let name = "propertyName";
                self.value(&here, Kind::Discriminator, old.get(name), new.get(name));
            }
            (None, None) => {}
            (before, after) => {
                // Whether the discriminator only says what the types say themselves.
                let is_said = |model: &Model, schema: &Value, tag: &Value| {
                    let all = cases(schema).map(|(_, all)| all);
                    let mut all = all.into_iter().flatten();
                    all.all(|case| is_said(model, case, &tag["propertyName"]))
                };
                let kind = match (before, after) {
                    (Some(tag), _) if is_said(self.old, old, tag) => Kind::DiscriminatorSaid,
                    (_, Some(tag)) if is_said(self.new, new, tag) => Kind::DiscriminatorSaid,
                    (Some(_), _) => Kind::TypeWidened,
                    _ => Kind::TypeNarrowed,
                };
                self.value(&tag, kind, before, after);
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
        let is_any = |case: &Value| case.as_object().is_some_and(crate::normalise::says_nothing);
        let mut is_one = old_list.iter().any(is_any) || new_list.iter().any(is_any);
        for (one, other) in pairs((self.old, &old_list), (self.new, &new_list)) {
            if let (Some(one), Some(other)) = (one, other) {
                is_one = true;
                self.case(&here.of(Some(one), Some(other)), one, other);
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

/// Whether a value may fit two of these cases.
fn overlap(model: &Model, cases: &[Value]) -> bool {
    let whole: Vec<Value> =
        cases.iter().map(|case| model.resolved(case).unwrap_or_default()).collect();
    let mut others = whole
        .iter()
        .enumerate()
        .flat_map(|(at, one)| whole[at + 1..].iter().map(move |other| (one, other)));
    // Of very many cases two overlap anyway.
    cases.len() > 1_000 || others.any(|(one, other)| !are_apart(model, one, other))
}

/// Whether no value fits both schemas: by their types, their values or a member that both require.
fn are_apart(model: &Model, one: &Value, other: &Value) -> bool {
    let kind = |schema: &Value| match schema["type"].as_str() {
        Some("integer") => Some("number".to_owned()),
        kind => kind.map(str::to_owned),
    };
    let (a, b) = (kind(one), kind(other));
    if a.is_some() && b.is_some() && a != b {
        return true;
    }
    if let (Some(one), Some(other)) = (one["enum"].as_array(), other["enum"].as_array()) {
        return one.iter().all(|value| !other.contains(value));
    }
    let member = |schema: &Value, name: &str| {
        let member = schema["properties"].get(name)?;
        model.resolved(member)
    };
    let both = super::object::required(one);
    let both = both.intersection(&super::object::required(other)).copied().collect::<Vec<_>>();
    both.into_iter().any(|name| match (member(one, name), member(other, name)) {
        (Some(one), Some(other)) => {
            one.get("enum").is_some()
                && other.get("enum").is_some()
                && are_apart(model, &one, &other)
        }
        _ => false,
    })
}

/// Whether a case allows only the values that a discriminator has for it.
fn is_said(model: &Model, case: &Value, member: &Value) -> bool {
    let whole = model.resolved(case).unwrap_or_default();
    let own = &whole["properties"][member.as_str().unwrap_or_default()];
    let own = model.resolved(own).unwrap_or_default();
    case.get(VALUES).is_none_or(|values| own.get("enum") == Some(values))
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
    let known = ["type", "oneOf", "anyOf", "discriminator"];
    keywords.any(|name| !known.contains(&name) && !is_note(name) && !name.starts_with('$'))
}

/// Whether a schema says no more than its type.
fn says_little(schema: &Value) -> bool {
    let keywords = schema.as_object();
    keywords.is_some_and(|schema| schema.keys().all(|name| name == "type" || is_note(name)))
}
