//! What changed about a body: its media types, and what it has as each of them.

use serde_json::{Value, json};

use super::{Comparison, Here, keywords, members};
use crate::change::Told;
use crate::kind::Kind;
use crate::normalise::{Model, Object, includes, is_same_in_utf_8, is_xml, media_type};

impl Comparison<'_> {
    /// What a body or a response has, by media type. A media type that went is the one, or the
    /// range, that includes it now; of several ranges the most specific one applies.
    pub(super) fn content(&mut self, here: &Here, old: Option<&Value>, new: Option<&Value>) {
        let empty = Object::new();
        let [old, new] = [old, new].map(|all| all.and_then(Value::as_object).unwrap_or(&empty));
        let mut gone: Vec<&String> = old.keys().filter(|name| !new.contains_key(*name)).collect();
        let mut came: Vec<&String> = new.keys().filter(|name| !old.contains_key(*name)).collect();
        let mut pairs: Vec<_> =
            old.keys().filter(|name| new.contains_key(*name)).map(|name| (name, name)).collect();
        for (kind, fits) in RELATIONS {
            let is_first = |(old, new): &(&String, &String)| fits(old, new);
            let all = gone.iter().flat_map(|old| came.iter().map(move |new| (*old, *new)));
            let mut found: Vec<_> = all.take(MOST_PAIRS).filter(is_first).collect();
            if *kind == Kind::MediaTypeWidened {
                // Each goes into one range, the longest name first.
                found.sort_by_key(|(old, new)| (*old, usize::MAX - new.len()));
                found.dedup_by_key(|(old, _)| *old);
            }
            gone.retain(|name| !found.iter().any(|(old, _)| old == name));
            came.retain(|name| !found.iter().any(|(_, new)| new == name));
            for (old, new) in &found {
                let [was, is] = [old, new].map(|name| Some(Told::text(name)));
                self.say(here, *kind, was, is);
            }
            pairs.extend(found);
        }
        // One that a range includes that both documents have: it is added, or left to the range.
        let range = |all: &'_ Object, name: &String| {
            let ranges = all.keys().filter(|range| includes(range, name));
            ranges.max_by_key(|range| range.len()).cloned()
        };
        let added: Vec<_> =
            came.iter().filter_map(|name| Some((range(old, name)?, (*name).clone()))).collect();
        let left: Vec<_> =
            gone.iter().filter_map(|name| Some(((*name).clone(), range(new, name)?))).collect();
        gone.retain(|name| !left.iter().any(|(old, _)| old == *name));
        for (name, _) in &left {
            self.say(here, Kind::MediaTypeUnnamed, Some(Told::text(name)), None);
        }
        let pairs = pairs.into_iter().map(|(was, is)| (was.clone(), is.clone()));
        let pairs: Vec<_> = pairs.chain(added).chain(left).collect();
        for (was, is) in &pairs {
            let here = here.of(Some(&old[was]), Some(&new[is]));
            self.media(&here, is, &old[was], &new[is]);
        }
        let told = |name: &String| Some(Told::text(name));
        if let ([gone], [came]) = (&gone[..], &came[..]) {
            return self.say(here, Kind::MediaType, told(gone), told(came));
        }
        for name in gone {
            self.say(here, Kind::MediaTypeRemoved, told(name), None);
        }
        for name in came {
            self.say(here, Kind::MediaTypeAdded, None, told(name));
        }
    }

    fn media(&mut self, here: &Here, name: &str, old_media: &Value, new_media: &Value) {
        let mut here = here.clone();
        if is_xml(name) {
            here.node = self.graph.xml(here.node);
        }
        for (name, old, new) in keywords(Some(old_media), Some(new_media)) {
            let here = here.below(name);
            match (name, old, new) {
                ("encoding", _, _) => {
                    for (member, old, new) in members(old, new) {
                        // That of a new member is judged with the member.
                        let whole = |schema: &'_ Value| schema["properties"].get(member).cloned();
                        let [was, is] =
                            [(self.old, old_media), (self.new, new_media)].map(|(model, media)| {
                                model.resolved(&media["schema"]).unwrap_or_default()
                            });
                        if let (Some(was), Some(is)) = (whole(&was), whole(&is)) {
                            let default = [(self.old, was), (self.new, is)].map(
                                |(model, member): (&Model, Value)| {
                                    content_type(&model.resolved(&member).unwrap_or_default())
                                },
                            );
                            self.encoding(&here.below(member), default, old, new);
                        }
                    }
                }
                ("schema", Some(old), Some(new)) => self.schema(&here, old, new),
                _ => self.other(&here, name, old, new),
            }
        }
    }

    /// How a member of a form is written. Each has a media type, said or by default.
    fn encoding(
        &mut self,
        here: &Here,
        default: [&'static str; 2],
        old: Option<&Value>,
        new: Option<&Value>,
    ) {
        let here = here.of(old, new);
        let types = [(old, default[0]), (new, default[1])].map(|(encoding, default)| {
            let said = encoding.and_then(|encoding| encoding["contentType"].as_str());
            let mut all: Vec<_> = said.unwrap_or(default).split(',').map(media_type).collect();
            all.sort();
            json!(all)
        });
        if types[0] != types[1] {
            let all = |types: &'_ Value| -> Vec<String> {
                types
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(|one| Some(one.as_str()?.to_owned()))
                    .collect()
            };
            let (was, is) = (all(&types[0]), all(&types[1]));
            let is_known = was.iter().all(|was| is.iter().any(|is| includes(is, was)));
            let kind = if is_known { Kind::MediaTypeWidened } else { Kind::Encoding };
            let here = here.below("contentType");
            self.say(
                &here,
                kind,
                Some(Told::text(&was.join(", "))),
                Some(Told::text(&is.join(", "))),
            );
        }
        for (name, old, new) in keywords(old, new) {
            let here = here.below(name);
            match name {
                "contentType" => {}
                "headers" => self.fields(&here, old, new),
                "style" | "explode"
                    if old.or(new) == Some(&form(name)) && (old.is_none() || new.is_none()) => {}
                "allowReserved" if old.is_none() => {
                    self.value(&here, Kind::EncodingAdded, old, new);
                }
                "style" | "explode" | "allowReserved" => {
                    self.value(&here, Kind::Encoding, old, new);
                }
                _ => self.other(&here, name, old, new),
            }
        }
    }
}

/// Of so many pairs of media types a relation is looked for.
const MOST_PAIRS: usize = 100_000;

type Relation = (Kind, fn(&str, &str) -> bool);

/// How a media type that came may be the one that went, the closest relation first.
const RELATIONS: &[Relation] = &[
    (Kind::Charset, is_same_in_utf_8),
    (Kind::MediaTypeWidened, |old, new| includes(new, old)),
    (Kind::MediaTypeNarrowed, |old, new| includes(old, new)),
];

/// What a member of a form says by default.
fn form(name: &str) -> Value {
    if name == "style" { json!("form") } else { json!(true) }
}

/// The media type of a member without a `contentType` (Encoding Object).
fn content_type(member: &Value) -> &'static str {
    let kind = match member["type"].as_str() {
        Some("array") => &member["items"],
        _ => member,
    };
    match (kind["type"].as_str(), kind["format"].as_str()) {
        (Some("string"), Some("binary")) => "application/octet-stream",
        (Some("object"), _) => "application/json",
        _ if kind.get("$ref").is_some() => "application/json",
        _ => "text/plain",
    }
}
