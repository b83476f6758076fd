//! What changed between the members of two objects.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::Comparison;
use super::graph::Spot;
use crate::Document;
use crate::change::Shown;
use crate::json::Place;
use crate::kind::{Direction, Kind};
use crate::model::{Null, Others, Schema};

impl Comparison<'_> {
    /// Compares the members that have a name.
    pub(super) fn members(&mut self, at: &Spot, old: &Schema, new: &Schema) {
        let properties = at.below("properties");
        let names = old.members.keys().chain(new.members.keys());
        for name in names.chain(&old.required).chain(&new.required).collect::<BTreeSet<_>>() {
            let (was, is) = (old.members.get(name), new.members.get(name));
            let at = properties.below(name);
            let at = at.at(was.map(|one| one.place()), is.map(|one| one.place()));
            let was_required = old.required.contains(name);
            let is_required = new.required.contains(name);
            match (was, is) {
                (Some(was), Some(is)) => self.member(&at, [was, is], [was_required, is_required]),
                (Some(was), None) => {
                    let whole = self.old.resolved(was).unwrap_or_default();
                    let was = Some(self.old.shown(was));
                    self.in_one(&at.only(sides(&whole)), was_required, was, None);
                }
                (None, Some(is)) => {
                    self.new_member(&at, &old.others, is, was_required, is_required);
                }
                (None, None) if was_required != is_required => {
                    let kind = if is_required { Kind::Required } else { Kind::Optional };
                    let [was, is] = [was_required, is_required].map(|required| {
                        format!("{name} {}", if required { "required" } else { "optional" })
                    });
                    self.report_text(&at, kind, Some(&was), Some(&is));
                }
                (None, None) => {}
            }
        }
    }

    /// Compares a member that both objects have.
    fn member(
        &mut self,
        at: &Spot,
        [old, new]: [&Rc<Schema>; 2],
        [was_required, is_required]: [bool; 2],
    ) {
        // The schema that a member refers to may say which side sends it.
        let whole_old = self.old.resolved(old).unwrap_or_default();
        let whole_new = self.new.resolved(new).unwrap_or_default();
        if whole_old.notes.is_read_only && !whole_new.notes.is_read_only && is_required {
            let new = Some(self.new.shown(new));
            self.in_one(&at.only(Direction::REQUEST), true, None, new);
        }
        let at = self.sides(at, &whole_old, &whole_new);
        self.required(&at, was_required, is_required);
        let old = with_null_of(new, old, was_required, is_required);
        self.schema(&at.sent(was_required || is_required), &old, new);
    }

    /// Reports a member that the older object does not have.
    fn new_member(
        &mut self,
        at: &Spot,
        others: &Others,
        new: &Rc<Schema>,
        was_required: bool,
        is_required: bool,
    ) {
        let whole = self.new.resolved(new).unwrap_or_default();
        let at = at.only(sides(&whole));
        let shown = Some(self.new.shown(new));
        match others {
            Others::None => {
                let kind = match is_required {
                    true => Kind::RequiredAddedToClosed,
                    false => Kind::AddedToClosed,
                };
                return self.report(&at, kind, None, shown);
            }
            // Another value was allowed under this name before.
            Others::Only(others) => self.schema(&at.at(Some(others.place()), None), others, new),
            Others::Any => {}
        }
        self.in_one(&at, is_required && !was_required, None, shown);
    }

    /// Compares which side sends a member.
    fn sides(&mut self, at: &Spot, old: &Schema, new: &Schema) -> Spot {
        for (name, side, was, is) in [
            ("readOnly", Direction::REQUEST, old.notes.is_read_only, new.notes.is_read_only),
            ("writeOnly", Direction::RESPONSE, old.notes.is_write_only, new.notes.is_write_only),
        ] {
            let kind = if is { Kind::OneWay } else { Kind::BothWays };
            self.flag(&at.only(side), (name, kind), was, is);
        }
        if sides(old) == sides(new) { at.only(sides(new)) } else { at.clone() }
    }

    /// Compares the members that have no name.
    pub(super) fn others(&mut self, at: &Spot, old: &Others, new: &Others) {
        let shown = |document: &Document, others: &Others| match others {
            Others::Any => Some(Shown::text("true")),
            Others::None => Some(Shown::text("false")),
            Others::Only(schema) => Some(document.shown(schema)),
        };
        let (old_shown, new_shown) = (shown(self.old, old), shown(self.new, new));
        // The place of an object without the keyword is the object.
        let schema = |others: &Others, place: &Place| match others {
            Others::Any => Some(Rc::new(Schema::any(place.clone()))),
            Others::None => None,
            Others::Only(schema) => Some(schema.clone()),
        };
        match (schema(old, &at.old), schema(new, &at.new)) {
            _ if old == new && *old == Others::Any => {}
            (None, None) => {}
            (None, Some(_)) => self.report(at, Kind::ObjectOpened, old_shown, new_shown),
            (Some(_), None) => self.report(at, Kind::ObjectClosed, old_shown, new_shown),
            (Some(was), Some(is)) => self.schema(at, &was, &is),
        }
    }
}

/// The sides that send a member.
fn sides(member: &Schema) -> Direction {
    match (member.notes.is_read_only, member.notes.is_write_only) {
        (true, false) => Direction::RESPONSE,
        (false, true) => Direction::REQUEST,
        _ => Direction::BOTH,
    }
}

/// The older member. If a member that may be null becomes one that must be there and not null, that
/// is one change, and so is the reverse: then the older member gets the newer `nullable`.
fn with_null_of(
    new: &Rc<Schema>,
    old: &Rc<Schema>,
    was_required: bool,
    is_required: bool,
) -> Rc<Schema> {
    let mut old = old.clone();
    let is_one = was_required != is_required && (new.notes.null != Null::No) != is_required;
    if is_one && old.notes.null != new.notes.null {
        Rc::make_mut(&mut old).notes.null = new.notes.null;
    }
    old
}
