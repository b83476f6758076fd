//! Compares `oneOf`, `anyOf`, the parts of `allOf` that could not be merged, and discriminators.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::Comparison;
use super::graph::Spot;
use crate::Document;
use crate::kind::Kind;
use crate::model::{Alternatives, Discriminator, Schema, is_any};

impl Comparison<'_> {
    /// Compares the subschemas of two lists. `removed` and `added` are the kinds of change if a
    /// list loses or gets one.
    pub(super) fn parts(
        &mut self,
        at: &Spot,
        [old, new]: [&[Rc<Schema>]; 2],
        removed: Kind,
        added: Kind,
    ) {
        for (old, new) in self.paired(old, new) {
            match (old, new) {
                (Some(old), Some(new)) => self.schema(at, old, new),
                (Some(old), None) => self.report_schemas(at, removed, Some(old), None),
                (_, new) => self.report_schemas(at, added, None, new.map(|new| &**new)),
            }
        }
    }

    /// Compares `oneOf` or `anyOf`, unless only one schema has them.
    pub(super) fn alternatives(&mut self, at: &Spot, old: &Schema, new: &Schema) {
        let (Some(was), Some(is)) = (&old.alternatives, &new.alternatives) else {
            return;
        };
        let Alternatives { keyword, list } = &**was;
        let at = at.below(is.keyword);
        if *keyword != is.keyword {
            self.report(&at, Kind::Limit, Some(keyword), Some(is.keyword));
        }
        self.parts(&at, [list, &is.list], Kind::ValuesRemoved, Kind::ValuesAdded);
    }

    /// Compares the discriminators, and the types that the same value selects.
    pub(super) fn discriminators(&mut self, at: &Spot, old: &Schema, new: &Schema) {
        let at = at.below("discriminator");
        let (was, is) = match (&old.discriminator, &new.discriminator) {
            (None, None) => return,
            (Some(was), Some(is)) => (was, is),
            (was, is) => {
                let kind = match (was, is) {
                    (Some(was), _) if is_hint(self.old, old, was) => Kind::Hint,
                    (_, Some(is)) if is_hint(self.new, new, is) => Kind::Hint,
                    (Some(_), _) => Kind::TypeWidened,
                    _ => Kind::TypeNarrowed,
                };
                let [was, is] = [was, is].map(|one| one.as_ref().map(|one| &*one.property));
                return self.report(&at, kind, was, is);
            }
        };
        let Discriminator { property, types, is_own: _ } = &**was;
        if *property != is.property {
            let at = at.below("propertyName");
            self.report(&at, Kind::Discriminator, Some(property), Some(&is.property));
        }
        let [before, after] = [types, &is.types].map(|types| types.keys().cloned().collect());
        let at = at.below("mapping");
        self.enumeration(&at, Some(&before), Some(&after));
        for (value, old) in types {
            let Some(new) = is.types.get(value) else {
                continue;
            };
            if old != new && is.types.values().any(|type_| type_ == old) {
                let [old, new] = [old, new].map(|type_| format!("{value}: {}", type_.short()));
                self.report(&at, Kind::Discriminator, Some(&old), Some(&new));
            }
            self.queue(&at, old, new);
        }
    }

    /// Compares two schemas of which only one has `oneOf` or `anyOf`. `written` has both schemas
    /// before their references were resolved. Unless the single schema is one of the alternatives,
    /// the check cannot tell which values both allow.
    pub(super) fn schema_or_alternatives(
        &mut self,
        at: &Spot,
        written: [&Rc<Schema>; 2],
        old: &Rc<Schema>,
        new: &Rc<Schema>,
    ) {
        let [written_old, written_new] = written;
        let is_added = old.alternatives.is_none();
        let [single, composed] = if is_added { [old, new] } else { [new, old] };
        let name = if is_added { written_old.pointer() } else { written_new.pointer() };
        let document = if is_added { self.new } else { self.old };
        let Some(alternatives) = &composed.alternatives else {
            return;
        };
        let Alternatives { keyword, list } = &**alternatives;
        let list_at = at.below(keyword);
        let is_single = |one: &&Rc<Schema>| {
            let resolved = document.resolved(one).unwrap_or_default();
            name.is_some() && name == one.pointer() || resolved.bare() == single.bare()
        };
        let kind = match list.iter().find(is_single).filter(|_| !has_other_limits(composed)) {
            Some(one) if is_added => {
                self.alternative(&list_at, written_old, one);
                Kind::TypeWidened
            }
            Some(one) => {
                self.alternative(&list_at, one, written_new);
                Kind::TypeNarrowed
            }
            None => Kind::Type,
        };
        self.report_schemas(&list_at, kind, Some(old), Some(new));
    }

    /// Compares a single schema with the alternative that it became, or the reverse. The name of
    /// the generated type is not compared, because it changes in any case.
    fn alternative(&mut self, at: &Spot, old: &Rc<Schema>, new: &Rc<Schema>) {
        let at = Spot { depth: at.depth + 1, ..at.clone() };
        if let (Some(old_name), Some(new_name)) = (old.pointer(), new.pointer()) {
            self.queue(&at, old_name, new_name);
        } else if let (Some(resolved_old), Some(resolved_new)) =
            (self.old.resolved(old), self.new.resolved(new))
        {
            self.assertions(&at, [old, new], &resolved_old, &resolved_new);
        }
    }
}

/// Whether a discriminator changes nothing about the allowed values: each alternative allows only
/// the values of the property by which the discriminator selects it.
fn is_hint(document: &Document, schema: &Schema, discriminator: &Discriminator) -> bool {
    let Discriminator { property, types, is_own: _ } = discriminator;
    schema.alternatives.iter().flat_map(|all| &all.list).all(|one| {
        let selects = |value: &&String| types.get(*value) == one.type_name();
        let values: BTreeSet<String> = types.keys().filter(selects).cloned().collect();
        let resolved = document.resolved(one).unwrap_or_default();
        let property = resolved.properties.get(property);
        let property = property.and_then(|property| document.resolved(property));
        let allowed = property.and_then(|one| one.enumeration.clone());
        one.type_name().is_none() || allowed == Some(values)
    })
}

/// Whether a schema limits values by more than its type and its alternatives.
fn has_other_limits(schema: &Schema) -> bool {
    let rest = Schema { type_: None, alternatives: None, discriminator: None, ..schema.clone() };
    !is_any(&rest)
}
