//! What changed about what anything may say beside its meaning.

use std::collections::{BTreeMap, BTreeSet};

use super::Comparison;
use super::spot::Spot;
use crate::change::Shown;
use crate::kind::Kind;
use crate::model::{Notes, Origin, Text, Whole};

impl Comparison<'_> {
    pub(super) fn notes(&mut self, at: Spot, old: &Notes, new: &Notes) {
        let Notes { is_deprecated, extensions, unknown, origin } = old;
        self.flag(at, ("deprecated", Kind::Deprecation), *is_deprecated, new.is_deprecated);
        self.each(at, Kind::Extension, extensions, &new.extensions);
        self.each(at, Kind::Unknown, unknown, &new.unknown);
        self.words(at, origin, &new.origin);
    }

    /// Compares a keyword that is true or absent.
    pub(super) fn flag(&mut self, at: Spot, (name, kind): (&str, Kind), old: bool, new: bool) {
        if old != new {
            let [was, is] = [old, new].map(|is_set| is_set.then_some("true"));
            let at = self.below(at, name);
            self.report_text(at, kind, was, is);
        }
    }

    fn each(
        &mut self,
        at: Spot,
        kind: Kind,
        old: &BTreeMap<Text, Text>,
        new: &BTreeMap<Text, Text>,
    ) {
        for name in old.keys().chain(new.keys()).collect::<BTreeSet<_>>() {
            let at = self.below(at, name);
            self.json(at, kind, old.get(name), new.get(name));
        }
    }

    /// Compares two values of JSON.
    pub(super) fn json(&mut self, at: Spot, kind: Kind, old: Option<&Text>, new: Option<&Text>) {
        if old != new {
            let [old, new] = [old, new].map(|json| json.map(|json| Shown::json(json)));
            self.report(at, kind, old, new);
        }
    }

    /// Compares the texts for people.
    pub(super) fn words(&mut self, at: Spot, old: &Origin, new: &Origin) {
        let (old, new) = (&old.words, &new.words);
        if old == new {
            return;
        }
        for name in old.iter().chain(new).map(|(name, _)| *name).collect::<BTreeSet<_>>() {
            let of = |words: &[(&str, u64)]| {
                let prints = words.iter().filter(|(one, _)| *one == name);
                let prints: Vec<String> = prints.map(|(_, print)| print.to_string()).collect();
                (!prints.is_empty()).then(|| prints.join(" "))
            };
            let (old, new) = (of(old), of(new));
            if old != new {
                let at = self.below(at, name);
                self.report_text(at, Kind::Text, old.as_deref(), new.as_deref());
            }
        }
    }

    /// Compares a value as a whole. The types that it refers to are compared in both directions.
    pub(super) fn whole(&mut self, at: Spot, kind: Kind, old: Option<&Whole>, new: Option<&Whole>) {
        let json = |whole: Option<&'_ Whole>| whole.map(|whole| whole.json.clone());
        self.json(at, kind, json(old).as_ref(), json(new).as_ref());
        let (Some(old), Some(new)) = (old, new) else { return };
        let Whole { json: _, references, words } = old;
        if *words != new.words {
            let [was, is] = [*words, new.words].map(|words| words.to_string());
            self.report_text(at, Kind::Text, Some(&was), Some(&is));
        }
        for name in references.intersection(&new.references) {
            self.lead(at, name, name);
        }
    }
}
