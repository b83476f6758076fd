//! Compares `oneOf`, `anyOf`, the parts of `allOf` that could not be merged, and discriminators.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::Comparison;
use super::graph::Spot;
use super::matching::Pair;
use crate::Document;
use crate::kind::Kind;
use crate::model::{Alternative, Alternatives, Discriminator, Schema, is_any};

impl Comparison<'_> {
    /// Compares the parts of `allOf` that could not be merged.
    pub(super) fn all_of(&mut self, at: &Spot, old: &[Rc<Schema>], new: &[Rc<Schema>]) {
        let [old, new] =
            [old, new].map(|parts| parts.iter().cloned().map(Alternative::of).collect::<Vec<_>>());
        let pairs = self.paired(&old, &new);
        self.parts(at, &pairs, Kind::LimitLoosened, Kind::LimitTightened);
    }

    /// Compares the subschemas of two lists. `removed` and `added` are the kinds of change if a list
    /// loses or gets one.
    fn parts(&mut self, at: &Spot, pairs: &[Pair<'_>], removed: Kind, added: Kind) {
        for (old, new) in pairs {
            let [old, new] = [old, new].map(|part| part.map(|part| &part.schema));
            match (old, new) {
                (Some(old), Some(new)) => self.schema(at, old, new),
                (Some(old), None) => self.report_schemas(at, removed, Some(old), None),
                (_, new) => self.report_schemas(at, added, None, new.map(|new| &**new)),
            }
        }
    }

    /// Compares the values of a discriminator that select each subschema.
    fn discriminator_values(&mut self, at: &Spot, pairs: &[Pair<'_>]) {
        for (old, new) in pairs {
            let [was, is] = [old, new].map(|part| part.and_then(|part| part.values.as_ref()));
            if was.is_some() && is.is_some() {
                self.enumeration(&at.below("mapping"), was, is);
            }
        }
    }

    /// Compares `oneOf` or `anyOf`, unless only one schema has them, and the discriminators.
    pub(super) fn alternatives(&mut self, at: &Spot, old: &Schema, new: &Schema) {
        let discriminator_at = at.below("discriminator");
        if let (Some(was), Some(is)) = (&old.alternatives, &new.alternatives) {
            let Alternatives { keyword, list } = &**was;
            let at = at.below(is.keyword);
            if *keyword != is.keyword {
                self.report(&at, Kind::Limit, Some(keyword), Some(is.keyword));
            }
            let pairs = self.paired(list, &is.list);
            self.parts(&at, &pairs, Kind::PartRemoved, Kind::PartAdded);
            self.discriminator_values(&discriminator_at, &pairs);
        }
        let (was, is) = match (&old.discriminator, &new.discriminator) {
            (None, None) => return,
            (Some(was), Some(is)) => {
                let Discriminator { property, mapping: _, children, is_own: _ } = &**was;
                if let (Some(old), Some(new)) = (children, &is.children) {
                    let pairs = self.paired(old, new);
                    self.parts(&discriminator_at, &pairs, Kind::PartRemoved, Kind::PartAdded);
                    self.discriminator_values(&discriminator_at, &pairs);
                }
                if *property != is.property {
                    let at = discriminator_at.below("propertyName");
                    self.report(&at, Kind::Discriminator, Some(property), Some(&is.property));
                }
                return;
            }
            (was, is) => (was, is),
        };
        let kind = match (was, is) {
            (Some(was), _) if is_hint(self.old, old, was) => Kind::DiscriminatorHint,
            (_, Some(is)) if is_hint(self.new, new, is) => Kind::DiscriminatorHint,
            (Some(_), _) => Kind::TypeWidened,
            _ => Kind::TypeNarrowed,
        };
        let [was, is] = [was, is].map(|one| one.as_ref().map(|one| &*one.property));
        self.report(&discriminator_at, kind, was, is);
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
        let Some(alternatives) = &composed.alternatives else { return };
        let Alternatives { keyword, list } = &**alternatives;
        let list_at = at.below(keyword);
        let is_single = |one: &&Alternative| {
            let resolved = document.resolved(&one.schema).unwrap_or_default();
            name.is_some() && name == one.schema.pointer() || resolved.bare() == single.bare()
        };
        let kind = match list.iter().find(is_single).filter(|_| !has_other_limits(composed)) {
            Some(one) if is_added => {
                self.alternative(&list_at, written_old, &one.schema);
                Kind::TypeWidened
            }
            Some(one) => {
                self.alternative(&list_at, &one.schema, written_new);
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
    let Some(alternatives) = &schema.alternatives else { return true };
    alternatives.list.iter().all(|one| {
        let resolved = document.resolved(&one.schema).unwrap_or_default();
        let property = resolved.properties.get(&discriminator.property);
        let property = property.and_then(|property| document.resolved(property));
        let allowed: Option<BTreeSet<String>> = property.and_then(|one| one.enumeration.clone());
        one.values.is_none() || one.values == allowed
    })
}

/// Whether a schema limits values by more than its type and its alternatives.
fn has_other_limits(schema: &Schema) -> bool {
    let rest = Schema { type_: None, alternatives: None, discriminator: None, ..schema.clone() };
    !is_any(&rest)
}
