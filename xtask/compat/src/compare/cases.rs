//! What changed between two lists of parts, or between one schema and a list of cases.

use serde_json::Value;

use super::cursor::Cursor;
use super::matching::pairs;
use super::schema::pointer;
use super::{Comparison, strings};
use crate::change::Shown;
use crate::json::{entries, items};
use crate::kind::Kind;
use crate::normalise::{CHILDREN, Model, VALUES, is_note, is_unconstrained};

impl Comparison<'_> {
    /// Compares two lists of parts. `tag` is the position of the discriminator that chooses a part.
    pub(super) fn parts(
        &mut self,
        at: &Cursor<'_>,
        tag: Option<&Cursor<'_>>,
        (removed, added): (Kind, Kind),
    ) {
        let [old, new] = at.values().map(|list| list.map(items).unwrap_or_default());
        for (old, new) in pairs((self.old, old), (self.new, new)) {
            let at = at.at(old, new);
            match (old, new) {
                (Some(old), Some(new)) => {
                    self.schema(&at);
                    let values = [old.get(VALUES), new.get(VALUES)];
                    if let (Some(tag), [Some(_), Some(_)]) = (tag, values) {
                        self.values(&tag.below("mapping").with(values[0], values[1]));
                    }
                }
                (Some(old), None) => self.report(&at, removed, Some(Shown::of(old)), None),
                (_, new) => self.report(&at, added, None, new.map(Shown::of)),
            }
        }
    }

    /// Compares the cases of two schemas, and the discriminators that choose from them.
    pub(super) fn both_cases(&mut self, at: &Cursor<'_>, old: &Value, new: &Value) {
        let tag = at.below("discriminator").located();
        let kinds = (Kind::PartRemoved, Kind::PartAdded);
        if let (Some((was, old)), Some((is, new))) = (cases(old), cases(new)) {
            let at = at.below(is).with(Some(old), Some(new));
            if was != is {
                let kind = match (overlap(self.new, new) || overlap(self.old, old), is) {
                    (false, _) => Kind::Composition,
                    (true, "oneOf") => Kind::CompositionTightened,
                    _ => Kind::CompositionLoosened,
                };
                self.report_text(&at, kind, Some(was), Some(is));
            }
            self.parts(&at, Some(&tag), kinds);
        }
        if let (Some(old), Some(new)) = (old.get(CHILDREN), new.get(CHILDREN)) {
            self.parts(&tag.with(Some(old), Some(new)), Some(&tag), kinds);
        }
        let kind = match tag.values() {
            [None, None] => return,
            [Some(_), Some(_)] => {
                return self.value(&tag.below("propertyName"), Kind::Discriminator);
            }
            [Some(tag), _] if is_implied(self.old, old, tag) => Kind::DiscriminatorHint,
            [_, Some(tag)] if is_implied(self.new, new, tag) => Kind::DiscriminatorHint,
            [Some(_), _] => Kind::TypeWidened,
            _ => Kind::TypeNarrowed,
        };
        self.value(&tag, kind);
    }

    /// Compares a schema with a list of cases. `written` has both schemas as they are written.
    pub(super) fn case_or_list(&mut self, written: &Cursor<'_>, old: &Value, new: &Value) {
        let grew = cases(old).is_none();
        let (plain, name, model) = match cases(if grew { new } else { old }) {
            Some((name, _)) if grew => (old, name, self.new),
            Some((name, _)) => (new, name, self.old),
            None => return,
        };
        let at = written.below(name).with(Some(old), Some(new));
        if [old, new].iter().any(|schema| cases(schema).is_some() && limits_more(schema)) {
            return self.value(&at, Kind::Limit);
        }
        let list = |schema: &Value, written: Option<&Value>| match cases(schema) {
            Some((_, cases)) => items(cases).to_vec(),
            None => written.cloned().into_iter().collect(),
        };
        let (old_list, new_list) = (list(old, written.old), list(new, written.new));
        let all = if grew { &new_list } else { &old_list };
        if is_wider(plain, model, all) {
            let is_same =
                |case: &Value| is_only_type(case) && case.get("type") == plain.get("type");
            let kind = match grew {
                _ if all.iter().any(is_same) => Kind::TypeName,
                true => Kind::TypeNarrowed,
                false => Kind::TypeWidened,
            };
            return self.value(&at, kind);
        }
        let is_any = |case: &Value| case.as_object().is_some_and(is_unconstrained);
        let mut is_case = old_list.iter().chain(&new_list).any(is_any);
        for (one, other) in pairs((self.old, &old_list), (self.new, &new_list)) {
            if one.is_some() && other.is_some() {
                is_case = true;
                self.case(&at.at(one, other));
            }
        }
        let kind = match (is_case, grew) {
            (false, _) => Kind::Type,
            (true, true) => Kind::TypeWidened,
            (true, false) => Kind::TypeNarrowed,
        };
        self.value(&at, kind);
    }

    /// Compares a schema with the case that it became. The generated type gets another name anyway.
    fn case(&mut self, at: &Cursor<'_>) {
        if let [Some(old_name), Some(new_name)] = at.values().map(|one| pointer(one?)) {
            self.lead(at, old_name, new_name);
        } else if let [Some(old), Some(new)] = self.resolved(at) {
            self.limits(at, &old, &new);
        }
    }
}

/// The cases of which a value is one, and the keyword that lists them.
pub fn cases(schema: &Value) -> Option<(&'static str, &Value)> {
    let list = |name: &'static str| schema.get(name).filter(|list| list.is_array());
    ["oneOf", "anyOf"].into_iter().find_map(|name| Some((name, list(name)?)))
}

/// Whether a value may fit two of these cases.
fn overlap(model: &Model, cases: &Value) -> bool {
    let whole: Vec<Value> =
        items(cases).iter().map(|case| model.resolved(case).unwrap_or_default()).collect();
    let mut pairs = whole
        .iter()
        .enumerate()
        .flat_map(|(at, one)| whole[at + 1..].iter().map(move |other| (one, other)));
    // Two of very many cases overlap anyway.
    whole.len() > 1_000 || pairs.any(|(one, other)| !are_disjoint(model, one, other))
}

/// Whether no value fits both schemas, because of their types, their enumerations, or a member that
/// both require.
fn are_disjoint(model: &Model, one: &Value, other: &Value) -> bool {
    let kind = |schema: &Value| match schema["type"].as_str() {
        Some("integer") => Some("number".to_owned()),
        kind => kind.map(str::to_owned),
    };
    if let (Some(one), Some(other)) = (kind(one), kind(other))
        && one != other
    {
        return true;
    }
    if let (Some(one), Some(other)) = (one["enum"].as_array(), other["enum"].as_array()) {
        return one.iter().all(|value| !other.contains(value));
    }
    let required = &strings(&one["required"]) & &strings(&other["required"]);
    let member = |schema: &Value, name: &str| {
        let member = model.resolved(schema["properties"].get(name)?)?;
        member.get("enum").is_some().then_some(member)
    };
    required.into_iter().any(|name| match (member(one, name), member(other, name)) {
        (Some(one), Some(other)) => are_disjoint(model, &one, &other),
        _ => false,
    })
}

/// Whether each case of a schema allows only the values that its discriminator has for the case.
fn is_implied(model: &Model, schema: &Value, discriminator: &Value) -> bool {
    let name = discriminator["propertyName"].as_str().unwrap_or_default();
    let Some((_, cases)) = cases(schema) else { return true };
    items(cases).iter().all(|case| {
        let whole = model.resolved(case).unwrap_or_default();
        let member = model.resolved(&whole["properties"][name]).unwrap_or_default();
        case.get(VALUES).is_none_or(|values| member.get("enum") == Some(values))
    })
}

/// Whether a schema only names a type, and each of the cases is of this type.
fn is_wider(schema: &Value, model: &Model, cases: &[Value]) -> bool {
    let fits = |case: &Value| {
        let case = model.resolved(case).unwrap_or_default();
        schema.get("type").is_none_or(|kind| case.get("type") == Some(kind))
    };
    is_only_type(schema) && cases.iter().all(fits)
}

/// Whether a schema limits values by more than its type and its cases.
fn limits_more(schema: &Value) -> bool {
    let known = ["type", "oneOf", "anyOf", "discriminator"];
    entries(schema).any(|(name, _)| {
        !known.contains(&name.as_str()) && !is_note(name) && !name.starts_with('$')
    })
}

/// Whether a schema limits values by no more than its type.
fn is_only_type(schema: &Value) -> bool {
    schema.is_object() && entries(schema).all(|(name, _)| name == "type" || is_note(name))
}
