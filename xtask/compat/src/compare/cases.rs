//! What changed between two lists of parts, or between one schema and a list of cases.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::Comparison;
use super::graph::Spot;
use super::matching::pairs;
use crate::Document;
use crate::kind::Kind;
use crate::model::{Case, Cases, Schema, Tag, is_any};
use crate::read::joined;

impl Comparison<'_> {
    /// Compares the demands of two schemas.
    pub(super) fn demands(&mut self, at: &Spot, old: &[Rc<Schema>], new: &[Rc<Schema>]) {
        let [old, new] = [old, new].map(|parts| {
            let case = |schema: &Rc<Schema>| Case { schema: schema.clone(), values: None };
            parts.iter().map(case).collect::<Vec<_>>()
        });
        self.parts(at, None, (&old, &new), (Kind::LimitLoosened, Kind::LimitTightened));
    }

    /// Compares two lists of parts. `tag` is the spot of the discriminator that chooses a part.
    fn parts(
        &mut self,
        at: &Spot,
        tag: Option<&Spot>,
        (old, new): (&[Case], &[Case]),
        (removed, added): (Kind, Kind),
    ) {
        for (old, new) in pairs((self.old, old), (self.new, new)) {
            let place = |case: &Case| case.schema.place();
            let at = at.at(old.map(place), new.map(place));
            match (old, new) {
                (Some(old), Some(new)) => {
                    self.schema(&at, &old.schema, &new.schema);
                    if let (Some(tag), Some(was), Some(is)) = (tag, &old.values, &new.values) {
                        let at = tag.below("mapping");
                        self.values(&at, Some(was), Some(is));
                    }
                }
                (Some(old), None) => {
                    self.report_schemas(&at, removed, Some(&old.schema), None);
                }
                (_, new) => {
                    self.report_schemas(&at, added, None, new.map(|new| &*new.schema));
                }
            }
        }
    }

    /// Compares the cases of two schemas, and the discriminators that choose from them.
    pub(super) fn both_cases(&mut self, at: &Spot, old: &Schema, new: &Schema) {
        let place = |tag: &Option<Box<Tag>>| tag.as_ref().map(|tag| tag.place.0.clone());
        let tag_at = at.below("discriminator").at(place(&old.tag), place(&new.tag));
        let kinds = (Kind::PartRemoved, Kind::PartAdded);
        if let (Some(was), Some(is)) = (&old.cases, &new.cases) {
            let Cases { keyword, list } = &**was;
            let at = at.below(is.keyword);
            if *keyword != is.keyword {
                let kind = match is.keyword {
                    "oneOf" => Kind::CompositionTightened,
                    _ => Kind::CompositionLoosened,
                };
                self.report_text(&at, kind, Some(keyword), Some(is.keyword));
            }
            self.parts(&at, Some(&tag_at), (list, &is.list), kinds);
        }
        let (was, is) = match (&old.tag, &new.tag) {
            (None, None) => return,
            (Some(was), Some(is)) => {
                let Tag { member, children, place: _, is_own: _ } = &**was;
                if let (Some(children), Some(new_children)) = (children, &is.children) {
                    self.parts(&tag_at, Some(&tag_at), (children, new_children), kinds);
                }
                if *member != is.member {
                    let at = tag_at.below("propertyName");
                    self.report_text(&at, Kind::Discriminator, Some(member), Some(&is.member));
                }
                return;
            }
            (was, is) => (was, is),
        };
        let kind = match (was, is) {
            (Some(tag), _) if is_implied(self.old, old, tag) => Kind::DiscriminatorHint,
            (_, Some(tag)) if is_implied(self.new, new, tag) => Kind::DiscriminatorHint,
            (Some(_), _) => Kind::TypeWidened,
            _ => Kind::TypeNarrowed,
        };
        let [was, is] = [was, is].map(|tag| tag.as_ref().map(|tag| &*tag.member));
        self.report_text(&tag_at, kind, was, is);
    }

    /// Compares a schema with a list of cases. `written` has both schemas as they are written.
    pub(super) fn case_or_list(
        &mut self,
        written_at: &Spot,
        written: [&Rc<Schema>; 2],
        old: &Rc<Schema>,
        new: &Rc<Schema>,
    ) {
        let grew = old.cases.is_none();
        let (plain, listed) = if grew { (old, new) } else { (new, old) };
        let Some(cases) = &listed.cases else { return };
        let at = written_at.below(cases.keyword);
        if limits_more(listed) {
            let document = if grew { self.new } else { self.old };
            let Some(only) = document.only_case(listed) else {
                return self.report_schemas(&at, Kind::Limit, Some(old), Some(new));
            };
            let at = Spot { depth: written_at.depth + 1, ..written_at.clone() };
            let (old, new) = if grew { (old, &only) } else { (&only, new) };
            return self.allowed(&at, written, old, new);
        }
        let plain_case = |schema: &Rc<Schema>| vec![Case { schema: schema.clone(), values: None }];
        let (old_list, new_list) = match grew {
            true => (plain_case(written[0]), cases.list.clone()),
            false => (cases.list.clone(), plain_case(written[1])),
        };
        let (model, all) = if grew { (self.new, &new_list) } else { (self.old, &old_list) };
        if is_wider(plain, model, all) {
            let is_same =
                |case: &Case| is_only_type(&case.schema) && case.schema.kind == plain.kind;
            let kind = match grew {
                _ if all.iter().any(is_same) => Kind::TypeName,
                true => Kind::TypeNarrowed,
                false => Kind::TypeWidened,
            };
            return self.report_schemas(&at, kind, Some(old), Some(new));
        }
        let mut is_case = old_list.iter().chain(&new_list).any(|case| is_any(&case.schema));
        for (one, other) in pairs((self.old, &old_list), (self.new, &new_list)) {
            if let (Some(one), Some(other)) = (one, other) {
                is_case = true;
                self.case(&at, &one.schema, &other.schema);
            }
        }
        let kind = match (is_case, grew) {
            (false, _) => Kind::Type,
            (true, true) => Kind::TypeWidened,
            (true, false) => Kind::TypeNarrowed,
        };
        self.report_schemas(&at, kind, Some(old), Some(new));
    }

    /// Compares a schema with the case that it became. The generated type gets another name anyway.
    fn case(&mut self, at: &Spot, old: &Rc<Schema>, new: &Rc<Schema>) {
        let at = at.at(Some(old.place()), Some(new.place()));
        let at = Spot { depth: at.depth + 1, ..at };
        if let (Some(old_name), Some(new_name)) = (old.pointer(), new.pointer()) {
            self.lead(&at, old_name, new_name);
        } else if let (Some(whole_old), Some(whole_new)) =
            (self.old.resolved(old), self.new.resolved(new))
        {
            self.allowed(&at, [old, new], &whole_old, &whole_new);
        }
    }
}

impl Document {
    /// The schema that says the same as the only case of this one and the keywords beside it.
    fn only_case(&self, schema: &Schema) -> Option<Rc<Schema>> {
        let [only] = &schema.cases.as_ref()?.list[..] else { return None };
        let only = self.resolved(&only.schema)?;
        let beside = Schema { cases: None, ..schema.clone() };
        let mut all = joined(&beside, &only);
        all.notes = schema.notes.clone();
        Some(Rc::new(all))
    }
}

/// Whether each case of a schema allows only the values that its discriminator has for the case.
fn is_implied(document: &Document, schema: &Schema, tag: &Tag) -> bool {
    let Some(cases) = &schema.cases else { return true };
    cases.list.iter().all(|case| {
        let whole = document.resolved(&case.schema).unwrap_or_default();
        let member = whole.members.get(&tag.member).and_then(|member| document.resolved(member));
        let values: Option<BTreeSet<String>> = member.and_then(|member| member.values.clone());
        case.values.is_none() || case.values == values
    })
}

/// Whether a schema only names a type, and each of the cases is of this type.
fn is_wider(schema: &Schema, document: &Document, cases: &[Case]) -> bool {
    let fits = |case: &Case| {
        let case = document.resolved(&case.schema).unwrap_or_default();
        schema.kind.is_none() || case.kind == schema.kind
    };
    is_only_type(schema) && cases.iter().all(fits)
}

/// Whether a schema limits values by more than its type and its cases.
fn limits_more(schema: &Schema) -> bool {
    !is_any(&Schema { kind: None, cases: None, tag: None, ..schema.clone() })
}

/// Whether a schema limits values by no more than its type.
fn is_only_type(schema: &Schema) -> bool {
    is_any(&Schema { kind: None, ..schema.clone() })
}
