//! What changed between two schemas.

use std::collections::{BTreeMap, BTreeSet};

use super::matching::pairs;
use super::{Comparison, Here, told};
use crate::kind::{Direction, Kind};
use crate::model::{Limits, Others, Schema};

impl<'a> Comparison<'a> {
    /// Two schemas where they are used.
    pub(super) fn schema(&mut self, here: Here<'_>, old: &'a Schema, new: &'a Schema) {
        if let (Some(old_name), Some(new_name)) = (old.pointer(), new.pointer()) {
            self.flags(here, old, new);
            self.names(here, old_name, new_name);
            if !self.graph.lead(here.node, here.through, old_name, new_name) {
                self.say(here, Kind::NotCompared, None, None);
            }
            return;
        }
        let (Some(inner_old), Some(inner_new)) = (self.old.resolved(old), self.new.resolved(new))
        else {
            self.say(here, Kind::NotCompared, Some(told(old)), Some(told(new)));
            return;
        };
        let mut old_flags = self.old.with_flags(old);
        let new_flags = self.new.with_flags(new);
        // A schema that says nothing allows null, too.
        if [inner_old, inner_new].iter().any(|one| **one == Schema::default()) {
            old_flags.nullable = new_flags.nullable;
        }
        self.flags(here, &old_flags, &new_flags);
        if old.pointer() != new.pointer() && !is_wrapped(inner_old, inner_new) {
            let [old_name, new_name] = [old, new].map(|one| one.pointer().map(short));
            self.say(here, Kind::TypeName, old_name, new_name);
        }
        self.limits(here, inner_old, inner_new);
    }

    /// What a schema says beside its limits.
    fn flags(&mut self, here: Here<'_>, old: &Schema, new: &Schema) {
        let kind = if new.nullable { Kind::Nullable } else { Kind::NotNullable };
        self.flag(here, kind, "nullable", old.nullable, new.nullable);
        self.flag(here, Kind::Deprecation, "deprecated", old.deprecated, new.deprecated);
        let kind = match (&old.default, &new.default) {
            (Some(_), Some(_)) => Kind::Default,
            _ => Kind::DefaultSaid,
        };
        let [old, new] = [old, new].map(|one| one.default.clone());
        self.value(here.below("default"), kind, old, new);
    }

    fn flag(&mut self, here: Here<'_>, kind: Kind, name: &str, old: bool, new: bool) {
        if old != new {
            self.say(here.below(name), kind, Some(old.to_string()), Some(new.to_string()));
        }
    }

    /// The names of two types that are used at the same place.
    fn names(&mut self, here: Here<'_>, old: &str, new: &str) {
        if old != new {
            let here = Here { place: super::Place::At(old), ..here };
            self.say(here, Kind::TypeName, Some(short(old)), Some(short(new)));
        }
    }

    /// Two schemas that are no references, but for what they say beside their limits.
    fn limits(&mut self, here: Here<'_>, old: &'a Schema, new: &'a Schema) {
        let (Some(old_limits), Some(new_limits)) = (old.limits(), new.limits()) else { return };
        if old_limits == new_limits {
            // Equal texts may hold references to types that differ.
            self.inner(here, old_limits, new_limits);
            return;
        }
        if old_limits.one_of.is_empty() != new_limits.one_of.is_empty() {
            // One schema, where the other document has a list with it.
            self.parts(here, (old, old_limits), (new, new_limits));
            return;
        }
        self.types(here, old_limits, new_limits);
        if old_limits.kind != new_limits.kind {
            // Of another type every other keyword is another one, too.
            return;
        }
        self.values(here, old_limits, new_limits);
        self.bounds(here, old_limits, new_limits);
        let [one, other] = [old_limits, new_limits].map(|limits| limits.discriminator.clone());
        self.value(here.below("discriminator"), Kind::Discriminator, one, other);
        self.codes(here, &old_limits.codes, &new_limits.codes);
        self.inner(here, old_limits, new_limits);
    }

    /// The schemas within two schemas.
    fn inner(&mut self, here: Here<'_>, old: &'a Limits, new: &'a Limits) {
        self.members(here, old, new);
        self.others(here, &old.others, &new.others);
        match (&old.items, &new.items) {
            (Some(old), Some(new)) => self.schema(here.below("items"), old, new),
            (None, None) => {}
            (old, new) => {
                let kind = if old.is_some() { Kind::TypeWidened } else { Kind::TypeNarrowed };
                let [old, new] = [old, new].map(|items| items.as_ref().map(told));
                self.say(here.below("items"), kind, old, new);
            }
        }
        if !old.one_of.is_empty() {
            let name = if new.any { "anyOf" } else { "oneOf" };
            if old.any != new.any {
                let texts = [old.any, new.any].map(|any| if any { "anyOf" } else { "oneOf" });
                let [old, new] = texts.map(|text| Some(text.to_owned()));
                self.say(here.below(name), Kind::Composition, old, new);
            }
            let old: Vec<&Schema> = old.one_of.iter().collect();
            let new: Vec<&Schema> = new.one_of.iter().collect();
            let kinds = (Kind::PartRemoved, Kind::PartAdded);
            self.list(here.below(name), kinds, &old, &new);
        }
        let [one, other]: [Vec<&Schema>; 2] = [old, new].map(|one| one.all_of.iter().collect());
        let kinds = (Kind::DemandRemoved, Kind::DemandAdded);
        self.list(here.below("allOf"), kinds, &one, &other);
        match (&old.not, &new.not) {
            // What is wider within is narrower without: each change counts in both directions.
            (Some(old), Some(new)) => {
                self.schema(here.below("not").only(Direction::EITHER), old, new);
            }
            (None, None) => {}
            (old, new) => {
                let kind = if old.is_some() { Kind::DemandRemoved } else { Kind::DemandAdded };
                let [old, new] = [old, new].map(|not| not.as_ref().map(told));
                self.say(here.below("not"), kind, old, new);
            }
        }
    }

    /// A schema and a list of which it may be a part.
    fn parts(
        &mut self,
        here: Here<'_>,
        (old, old_limits): (&'a Schema, &'a Limits),
        (new, new_limits): (&'a Schema, &'a Limits),
    ) {
        let name = if old_limits.any || new_limits.any { "anyOf" } else { "oneOf" };
        let parts = |schema, limits: &'a Limits| -> Vec<&'a Schema> {
            if limits.one_of.is_empty() { vec![schema] } else { limits.one_of.iter().collect() }
        };
        let [old_parts, new_parts] = [parts(old, old_limits), parts(new, new_limits)];
        let is_wrapped = is_wrapped(old, new);
        let mut is_whole = true;
        for (one, other) in pairs((self.old, &old_parts), (self.new, &new_parts)) {
            let here = here.below(name);
            match (one, other) {
                (Some(one), Some(other)) => {
                    let inner = (self.old.resolved(one), self.new.resolved(other));
                    if let (Some(one), Some(other)) = inner {
                        self.limits(here, one, other);
                    }
                }
                _ if is_wrapped => is_whole = false,
                (Some(one), None) => self.say(here, Kind::PartRemoved, Some(told(one)), None),
                (_, other) => self.say(here, Kind::PartAdded, None, other.map(told)),
            }
        }
        if !is_whole {
            let grew = old_limits.one_of.is_empty();
            let kind = if grew { Kind::TypeWidened } else { Kind::TypeNarrowed };
            self.say(here, kind, Some(told(old)), Some(told(new)));
        }
    }

    /// Two lists of parts.
    fn list(
        &mut self,
        here: Here<'_>,
        (removed, added): (Kind, Kind),
        old: &[&'a Schema],
        new: &[&'a Schema],
    ) {
        for (old, new) in pairs((self.old, old), (self.new, new)) {
            let label = old.or(new).map(label).unwrap_or_default();
            let here = here.below(&label);
            match (old, new) {
                (Some(old), Some(new)) => self.schema(here, old, new),
                (Some(old), None) => self.say(here, removed, Some(told(old)), None),
                (_, new) => self.say(here, added, None, new.map(told)),
            }
        }
    }

    fn members(&mut self, here: Here<'_>, old: &'a Limits, new: &'a Limits) {
        let names = [&old.members, &new.members].into_iter().flat_map(BTreeMap::keys);
        let names = names.chain(&old.required).chain(&new.required).collect::<BTreeSet<_>>();
        let properties = here.below("properties");
        for name in names {
            let here = properties.below(name);
            let [was_required, required] = [old, new].map(|limits| limits.required.contains(name));
            match (old.members.get(name), new.members.get(name)) {
                (Some(one), Some(other)) => {
                    if one.read_only && !other.read_only && required {
                        let here = here.only(Direction::REQUEST);
                        self.say(here, Kind::RequiredMemberAdded, None, Some(told(other)));
                    }
                    let here = self.ways(here, one, other);
                    self.required(here, was_required, required);
                    self.schema(here, one, other);
                }
                (Some(one), None) => {
                    let here = here.only(ways(one));
                    self.say(here, Kind::MemberRemoved, Some(told(one)), None);
                }
                (None, Some(other)) => {
                    let here = here.only(ways(other));
                    let kind = match required && !was_required {
                        true => Kind::RequiredMemberAdded,
                        false if old.others == Others::Closed(false) => Kind::MemberAddedToClosed,
                        false => Kind::MemberAdded,
                    };
                    let required = if required { ", required" } else { "" };
                    self.say(here, kind, None, Some(told(other) + required));
                }
                (None, None) => self.required(here, was_required, required),
            }
        }
    }

    fn required(&mut self, here: Here<'_>, old: bool, new: bool) {
        let kind = if new { Kind::MemberRequired } else { Kind::MemberOptional };
        if old != new {
            let [old, new] =
                [old, new].map(|required| if required { "required" } else { "optional" });
            self.say(here, kind, Some(old.to_owned()), Some(new.to_owned()));
        }
    }

    /// Which side sends a member, and what changed about that.
    fn ways<'h>(&mut self, here: Here<'h>, old: &Schema, new: &Schema) -> Here<'h> {
        for (name, was, is, side) in [
            ("readOnly", old.read_only, new.read_only, Direction::REQUEST),
            ("writeOnly", old.write_only, new.write_only, Direction::RESPONSE),
        ] {
            let kind = if is { Kind::OneWay } else { Kind::BothWays };
            self.flag(here.only(side), kind, name, was, is);
        }
        match (ways(old), ways(new)) {
            (old, new) if old == new => here.only(new),
            _ => here,
        }
    }

    fn others(&mut self, here: Here<'_>, old: &'a Others, new: &'a Others) {
        let here = here.below("additionalProperties");
        if let (Others::Like(old), Others::Like(new)) = (old, new) {
            return self.schema(here, old, new);
        }
        let freedom = |others: &Others| match others {
            Others::Open => 2,
            Others::Like(_) => 1,
            Others::Closed(_) => 0,
        };
        let opened = freedom(new) > freedom(old);
        let kind = if opened { Kind::ObjectOpened } else { Kind::ObjectClosed };
        let text = |others: &Others| {
            Some(if *others == Others::Open { "true".to_owned() } else { told(others) })
        };
        self.value(here, kind, text(old), text(new));
    }
}

/// Whether one is a list of cases and the other a single one, which is no list of values: then the
/// generated type is another one.
fn is_wrapped(old: &Schema, new: &Schema) -> bool {
    let (Some(old), Some(new)) = (old.limits(), new.limits()) else { return false };
    old.one_of.is_empty() != new.one_of.is_empty() && old.values.is_none() && new.values.is_none()
}

/// Which sides send a member.
fn ways(member: &Schema) -> Direction {
    match (member.read_only, member.write_only) {
        (true, false) => Direction::RESPONSE,
        (false, true) => Direction::REQUEST,
        _ => Direction::BOTH,
    }
}

/// The name of a type without its place.
fn short(pointer: &str) -> String {
    pointer.strip_prefix("#/components/schemas/").unwrap_or(pointer).to_owned()
}

/// A name for a part of a list: its title, its type, or its only member with one value.
fn label(part: &Schema) -> String {
    let tag = || {
        let members = part.limits()?.members.values();
        let mut values = members.filter_map(|member| member.limits()?.values.clone());
        let only = values.find(|values| values.len() == 1)?.pop_first()?;
        Some(only.trim_matches('"').to_owned())
    };
    let required = || part.limits()?.required.first().cloned();
    let kind = || part.limits()?.kind.clone();
    let name = part.pointer().map(short).or_else(|| part.title.clone());
    name.or_else(tag).or_else(required).or_else(kind).unwrap_or_else(|| "-".to_owned())
}
