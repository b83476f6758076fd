//! Compares the properties of two objects.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::graph::Spot;
use super::{Comparison, brief};
use crate::kind::{Direction, Kind};
use crate::model::{AdditionalProperties, Schema};

impl Comparison<'_> {
    /// Compares `properties` and `required`.
    pub(super) fn properties(&mut self, at: &Spot, old: &Schema, new: &Schema) {
        let names = old.properties.keys().chain(new.properties.keys());
        for name in names.chain(&old.required).chain(&new.required).collect::<BTreeSet<_>>() {
            let (was, is) = (old.properties.get(name), new.properties.get(name));
            let at = at.below(&format!(".{name}"));
            let required = [old, new].map(|object| object.required.contains(name));
            let [was_required, is_required] = required;
            match (was, is) {
                (Some(was), Some(is)) => self.property(&at, [was, is], required),
                (Some(was), None) => {
                    let resolved = self.old.resolved(was).unwrap_or_default();
                    let at = at.only(direction(&resolved));
                    self.in_one(&at, was_required, Some(brief(was)), None);
                }
                (None, Some(is)) => {
                    self.new_property(&at, &old.additional_properties, is, required);
                }
                (None, None) => self.required(&at, was_required, is_required),
            }
        }
    }

    /// Compares a property that both objects have.
    fn property(
        &mut self,
        at: &Spot,
        [old, new]: [&Rc<Schema>; 2],
        [was_required, is_required]: [bool; 2],
    ) {
        // `readOnly` and `writeOnly` may be in the schema to which the property refers.
        let resolved_old = self.old.resolved(old).unwrap_or_default();
        let resolved_new = self.new.resolved(new).unwrap_or_default();
        let (was, is) = (&resolved_old.annotations, &resolved_new.annotations);
        if was.is_read_only && !is.is_read_only && is_required {
            self.in_one(&at.only(Direction::REQUEST), true, None, Some(brief(new)));
        }
        let at = self.directions(at, &resolved_old, &resolved_new);
        self.required(&at, was_required, is_required);
        self.schema(&at, old, new);
    }

    /// Compares a new property with the additional properties of the older object.
    fn new_property(
        &mut self,
        at: &Spot,
        additional: &AdditionalProperties,
        new: &Rc<Schema>,
        [was_required, is_required]: [bool; 2],
    ) {
        let resolved = self.new.resolved(new).unwrap_or_default();
        let at = at.only(direction(&resolved));
        match additional {
            AdditionalProperties::None => {
                let kind =
                    if is_required { Kind::RequiredAddedToClosed } else { Kind::AddedToClosed };
                return self.report_schemas(&at, kind, None, Some(new));
            }
            // A property with this name had to fit the schema of additional properties before.
            AdditionalProperties::Schema(old) => {
                self.schema(&at, old, new);
            }
            AdditionalProperties::Any => {}
        }
        self.in_one(&at, is_required && !was_required, None, Some(brief(new)));
    }

    /// Compares `readOnly` and `writeOnly`. Returns the spot with the direction of the property.
    fn directions(&mut self, at: &Spot, old: &Schema, new: &Schema) -> Spot {
        let (was, is) = (direction(old), direction(new));
        if was == is {
            return at.only(is);
        }
        for (kind, direction) in [(Kind::OneWay, was - is), (Kind::BothWays, is - was)] {
            if !direction.is_empty() {
                let (was, is) = (sent(was), sent(is));
                self.report(&at.only(direction), kind, Some(was), Some(is));
            }
        }
        at.clone()
    }

    /// Compares `additionalProperties`.
    pub(super) fn additional_properties(
        &mut self,
        at: &Spot,
        old: &AdditionalProperties,
        new: &AdditionalProperties,
    ) {
        let schema = |additional: &AdditionalProperties| match additional {
            AdditionalProperties::Any => Some(Rc::new(Schema::default())),
            AdditionalProperties::None => None,
            AdditionalProperties::Schema(schema) => Some(schema.clone()),
        };
        match (schema(old), schema(new)) {
            _ if *old == AdditionalProperties::Any && old == new => {}
            (None, None) => {}
            (None, Some(is)) => {
                self.report(at, Kind::LimitLoosened, Some("false"), Some(&brief(&is)));
            }
            (Some(was), None) => {
                self.report(at, Kind::LimitTightened, Some(&brief(&was)), Some("false"));
            }
            (Some(was), Some(is)) => self.schema(at, &was, &is),
        }
    }
}

/// Whether a property is sent in requests, in responses, or in both.
fn direction(property: &Schema) -> Direction {
    match (property.annotations.is_read_only, property.annotations.is_write_only) {
        (true, false) => Direction::RESPONSE,
        (false, true) => Direction::REQUEST,
        _ => Direction::all(),
    }
}

fn sent(direction: Direction) -> &'static str {
    match direction {
        Direction::REQUEST => "only in requests",
        Direction::RESPONSE => "only in responses",
        _ => "in requests and responses",
    }
}
