//! Merges `allOf` into one schema, as far as one schema can say the same. What cannot be merged
//! stays a demand beside it.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::Reader;
use super::number::allows;
use super::schema::Position;
use crate::json::Json;
use crate::model::{
    Aside, Case, Cases, Made, Null, Others, Pointer, Schema, SchemaNotes, Text, is_any,
};

/// The number of members that may be copied from types into types that are made of them.
const MOST_MEMBERS: usize = 1_000_000;

/// The number of types that may be nested as parts of each other.
const DEEPEST_PART: usize = 20;

/// The keyword of a list of cases, and the cases.
type List = (&'static str, Vec<Rc<Schema>>);

impl<'t> Reader<'t> {
    /// Merges the parts of a schema. A list of one part becomes that part.
    pub fn merged(
        &mut self,
        mut schema: Schema,
        mut demands: Vec<Rc<Schema>>,
        lists: [List; 2],
        json: &Json<'t>,
        position: Position,
    ) -> Schema {
        for (keyword, parts) in lists.into_iter().filter(|(_, parts)| !parts.is_empty()) {
            let (mut parts, has_null) = alternatives(parts);
            if has_null {
                schema.notes.null = Null::Yes;
            }
            // Beside other keywords, one case may get a second one.
            let is_beside = {
                let beside = Schema { kind: None, ..schema.bare() };
                beside != Schema::default() || !demands.is_empty()
            };
            if parts.len() == 1 && schema.tag.is_none() && !is_beside {
                demands.extend(parts.pop());
                continue;
            }
            let of: BTreeSet<_> = match &parts[..] {
                [only] if schema.tag.is_none() => {
                    names(only).into_iter().chain([Pointer::new("")]).collect()
                }
                _ => BTreeSet::new(),
            };
            let list = parts.into_iter().map(|schema| Case { schema, values: None }).collect();
            let cases = Some(Box::new(Cases { keyword, list }));
            if schema.cases.is_some() {
                let other = Schema { cases, ..Schema::any(json.place.clone()) };
                demands.push(Rc::new(other));
            } else {
                schema.cases = cases;
                schema.made.0.of = of;
            }
        }
        if demands.is_empty() { schema } else { self.demanded(demands, schema, json, position) }
    }

    /// Returns the schema of the values that fit all of these parts, and the keywords beside them.
    fn demanded(
        &mut self,
        parts: Vec<Rc<Schema>>,
        schema: Schema,
        json: &Json<'t>,
        position: Position,
    ) -> Schema {
        let name = schema.made.0.name.clone();
        let (mut notes, beside) = split(schema);
        let mut demands = Vec::new();
        if beside != Schema::default() {
            demands.push(Rc::new(beside.at(json.place.clone())));
        }
        for part in parts {
            if is_any(&part) {
                notes = notes.over(&part.notes);
            } else {
                demands.push(part);
            }
        }
        let mut demands = sorted(demands);
        if demands.len() < 2 {
            let only = demands.pop().unwrap_or_default();
            let mut only = Rc::unwrap_or_clone(only);
            only.notes = notes.over(&only.notes);
            only.made.0.name = name.or(only.made.0.name);
            return only;
        }
        if position == Position::Inner && demands.iter().any(|part| part.pointer().is_some()) {
            // Types may contain each other endlessly, so the schema is merged once, by itself.
            let at = self.referenced(Pointer::new(&json.place));
            let made = Aside(Made { at: Some(at), name, of: BTreeSet::new() });
            return Schema { demands, notes, made, ..Schema::default() };
        }
        let of: BTreeSet<Pointer> = demands.iter().flat_map(|part| names(part)).collect();
        let mut whole = Vec::new();
        let mut rest = Vec::new();
        for part in demands {
            match self.whole_part(&part) {
                Some(part) => whole.push(part),
                None => rest.push(part),
            }
        }
        let mut all = intersection(whole, rest);
        self.merged += all.members.len();
        all.made = Aside(Made { at: None, name, of });
        all.notes = notes.over(&all.notes);
        all
    }

    /// The keywords of a part. A reference has those of its type, without the texts about the type.
    fn whole_part(&mut self, part: &Schema) -> Option<Schema> {
        let mut notes = part.notes.clone();
        let mut schema = part.clone();
        let mut is_type = false;
        while let Some(pointer) = schema.pointer().cloned() {
            let is_known = self.model.schemas.contains_key(&pointer);
            let is_open = self.open.contains(&pointer) || self.open.len() >= DEEPEST_PART;
            let is_found = self.find(pointer.as_str()).is_some();
            if !is_found || self.merged > MOST_MEMBERS || !is_known && is_open {
                return None;
            }
            let next = self.root(&pointer);
            if next.pointer() == Some(&pointer) {
                return None;
            }
            is_type = true;
            schema = (*next).clone();
            notes = notes.over(&schema.notes);
        }
        if is_type {
            notes.rest.whole.clear();
            if let Some(tag) = &mut schema.tag {
                tag.children = None;
                tag.is_own = false;
            }
        }
        Some(Schema { notes, ..schema })
    }
}

/// The schema of the values that fit both schemas.
pub fn joined(one: &Schema, other: &Schema) -> Schema {
    let parts = sorted(vec![Rc::new(one.clone()), Rc::new(other.clone())]);
    intersection(parts.into_iter().map(Rc::unwrap_or_clone).collect(), Vec::new())
}

/// Separates what a schema says about values from what stands beside it.
fn split(schema: Schema) -> (SchemaNotes, Schema) {
    let mut notes = schema.notes.clone();
    let unknown = std::mem::take(&mut notes.rest.unknown);
    let mut bare = Schema { notes: SchemaNotes::default(), ..schema };
    bare.notes.rest.unknown = unknown;
    bare.made.0 = Made { of: bare.made.0.of, ..Made::default() };
    (notes, bare)
}

/// The names of the types that a schema is made of: the empty name for its own keywords.
fn names(part: &Schema) -> BTreeSet<Pointer> {
    if !part.made.0.of.is_empty() {
        return part.made.0.of.clone();
    }
    let own = || Pointer::new("");
    BTreeSet::from([part.type_name().cloned().unwrap_or_else(own)])
}

/// Returns one schema that says the same as all parts. What one schema cannot say joins `rest`,
/// which becomes its demands.
fn intersection(mut parts: Vec<Schema>, mut rest: Vec<Rc<Schema>>) -> Schema {
    // Null fits if each part with a type allows it.
    let typed = || parts.iter().filter(|part| part.kind.is_some());
    let nulls = typed().chain(&parts).map(|part| part.notes.null);
    let null = nulls.into_iter().find(|null| *null != Null::No);
    let null = null.filter(|_| typed().all(|part| part.notes.null != Null::No));
    let mut all = Schema::any(parts.last().map(Schema::place).unwrap_or_default());
    while let Some(mut part) = parts.pop() {
        // A closed object does not know the members of the other parts.
        let has_others = |part: &Schema| part.others != Others::Any;
        let has_members = |part: &Schema| !part.members.is_empty() || has_others(part);
        let is_apart = has_others(&part)
            && (has_members(&all)
                || parts.iter().any(has_members)
                || rest.iter().any(|part| !part.is_no_schema()));
        rest.append(&mut part.demands);
        match is_apart {
            true => rest.push(Rc::new(part)),
            false => add(&mut all, part, &mut rest),
        }
    }
    all.notes.null = null.unwrap_or_default();
    all.demands = sorted(rest);
    all
}

/// Adds the keywords of a part to a schema that may contain them already.
fn add(all: &mut Schema, part: Schema, rest: &mut Vec<Rc<Schema>>) {
    let Schema {
        to,
        kind,
        format,
        members,
        required,
        others,
        items,
        values,
        cases,
        tag,
        demands: _,
        not,
        limits,
        notes,
        made: _,
    } = part;
    let place = all.place();
    let mut alone = |schema: Schema| rest.push(Rc::new(schema.at(place.clone())));
    let kind = match (all.kind.as_deref(), kind.as_deref()) {
        (Some("number"), Some("integer")) => all.kind.take().and(kind),
        (Some("integer"), Some("number")) => None,
        _ => kind,
    };
    macro_rules! keep_one_of {
        ($($field:ident)*) => {$(
            if let Some(other) = keep(&mut all.$field, $field) {
                alone(Schema { $field: Some(other), ..Schema::default() });
            }
        )*};
    }
    keep_one_of!(to kind format cases tag not);
    for (name, limit) in limits {
        let own = all.limits.remove(name);
        let limit = match own {
            Some(own) if own != limit => match allows(name, &own, &limit) {
                Some(Ordering::Greater) => limit,
                Some(_) => own,
                None => {
                    let (first, second) = if own < limit { (own, limit) } else { (limit, own) };
                    let limits = BTreeMap::from([(name, second)]);
                    alone(Schema { limits, ..Schema::default() });
                    first
                }
            },
            _ => limit,
        };
        all.limits.insert(name, limit);
    }
    for (name, member) in members {
        let member = match all.members.remove(&name) {
            Some(own) => both(own, member),
            None => member,
        };
        all.members.insert(name, member);
    }
    all.required.extend(required);
    if others != Others::Any {
        all.others = others;
    }
    all.items = match (all.items.take(), items) {
        (Some(own), Some(items)) => Some(both(own, items)),
        (own, items) => own.or(items),
    };
    all.values = match (all.values.take(), values) {
        (Some(own), Some(values)) => Some(&own & &values),
        (own, values) => own.or(values),
    };
    all.notes = std::mem::take(&mut all.notes).over(&notes);
}

/// Keeps one of two values, and returns the other one. It does not depend on their order.
fn keep<T: Ord>(own: &mut Option<T>, other: Option<T>) -> Option<T> {
    match (own.take(), other) {
        (Some(one), Some(other)) => {
            let is_same = one == other;
            let (first, second) = if one <= other { (one, other) } else { (other, one) };
            *own = Some(first);
            (!is_same).then_some(second)
        }
        (one, other) => {
            *own = one.or(other);
            None
        }
    }
}

/// Merges two schemas of one place. References stay, because their types may contain this place.
fn both(one: Rc<Schema>, other: Rc<Schema>) -> Rc<Schema> {
    if one == other {
        return one;
    }
    let place = one.place();
    let schema = if one.pointer().or(other.pointer()).is_some() {
        Schema { demands: sorted(vec![one, other]), ..Schema::default() }
    } else {
        intersection(vec![(*other).clone(), (*one).clone()], Vec::new())
    };
    Rc::new(schema.at(place))
}

/// Merges the enumerations among the parts of `oneOf` or `anyOf`: generators write the documented
/// values of one enumeration as parts. A part that only allows null is left out, and the second
/// value says whether there was one.
fn alternatives(parts: Vec<Rc<Schema>>) -> (Vec<Rc<Schema>>, bool) {
    let mut others: Vec<Rc<Schema>> = Vec::new();
    let mut lists: BTreeMap<Option<Text>, Schema> = BTreeMap::new();
    let mut has_null = false;
    for mut part in sorted(parts) {
        let Some(values) = enumeration(&part) else {
            has_null |= *part == Schema::default();
            // A case that allows null makes the list allow it.
            if part.notes.null != Null::No {
                has_null = true;
                Rc::make_mut(&mut part).notes.null = Null::No;
            }
            others.push(part);
            continue;
        };
        has_null |= part.notes.null == Null::Yes;
        if !values.is_empty() {
            let list = lists
                .entry(part.kind.clone())
                .or_insert_with(|| Schema { kind: part.kind.clone(), ..Schema::any(part.place()) });
            list.values.get_or_insert_default().extend(values.iter().cloned());
        }
    }
    others.extend(lists.into_values().map(Rc::new));
    (sorted(others), has_null)
}

/// The values of a schema that is an enumeration and nothing else.
fn enumeration(part: &Schema) -> Option<&BTreeSet<String>> {
    let values = part.values.as_ref()?;
    let mut list =
        Schema { kind: part.kind.clone(), values: Some(values.clone()), ..Schema::default() };
    list.notes.null = part.notes.null;
    (list == *part).then_some(values)
}

/// Sorts parts by what they say, and removes those that differ only in their texts.
fn sorted(mut parts: Vec<Rc<Schema>>) -> Vec<Rc<Schema>> {
    parts.sort_by(|one, other| {
        // What a schema says itself comes last, and takes precedence.
        let all = other.pointer().is_some().cmp(&one.pointer().is_some());
        let all = all.then_with(|| one.cmp(other));
        let all = all.then_with(|| names(one).cmp(&names(other)));
        all.then_with(|| one.made.0.name.cmp(&other.made.0.name))
    });
    parts.dedup();
    parts
}
