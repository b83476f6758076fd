//! What a document uses: which of its parts are used by requests and which by responses, through
//! every `$ref`, and which security schemes and tags its operations have.
//!
//! If a discriminator names schemas that no list beside it has, every part counts as unclear.
//! Otherwise a part could seem to be used by requests alone.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use serde_json::Value;

use crate::members::{items, members};
use crate::place::{Place, is_word};
use crate::reference::target;

/// What uses a part of a document: a set of the four below.
pub type Sides = u8;

/// What a consumer sends.
pub const REQUEST: Sides = 1;
/// What a consumer receives.
pub const RESPONSE: Sides = 2;
/// A callback, or a schema below `not`. It is unclear what a change means there.
pub const UNCLEAR: Sides = 4;
/// A composition, whose parts limit each other.
pub const COMPOSED: Sides = 8;

/// The uses of a place.
#[derive(Clone, Default)]
pub struct Uses {
    pub sides: Sides,
    /// A composition that it is a part of.
    pub composition: Option<Rc<str>>,
}

impl Uses {
    fn add(&mut self, other: &Self) {
        self.sides |= other.sides;
        self.composition = self.composition.take().or_else(|| other.composition.clone());
    }
}

/// What a document uses.
pub struct Usage<'a> {
    /// The document itself.
    pub document: &'a Value,
    /// The places where a use begins: it holds for all below them.
    uses: HashMap<Place, Uses>,
    /// The places that were followed, each once for each use.
    entered: HashSet<(Place, Sides)>,
    names: HashSet<(Named, String)>,
    is_incomplete: bool,
}

/// What is found by its name.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Named {
    /// A security scheme of an operation.
    Scheme,
    /// A tag of an operation.
    Tag,
    /// A member that a part of a composition describes or requires.
    Composed,
}

/// A value that is still to be followed.
struct Left<'a> {
    place: Place,
    value: &'a Value,
    uses: Uses,
}

impl<'a> Usage<'a> {
    /// Follows a document from its operations. The list of what is left replaces recursion: a chain
    /// of references may be as long as the document.
    pub fn of(document: &'a Value) -> Self {
        let mut usage = Self {
            document,
            uses: HashMap::new(),
            entered: HashSet::new(),
            names: HashSet::new(),
            is_incomplete: false,
        };
        let start = |part| Left {
            place: Place::default().step(part),
            value: &document[part],
            uses: Uses::default(),
        };
        let mut left = vec![start("paths"), start("security")];
        while let Some(Left { mut place, value, uses }) = left.pop() {
            if usage.entered.insert((place.clone(), uses.sides)) {
                usage.uses.entry(place.clone()).or_default().add(&uses);
                usage.walk(&mut place, value, uses, &mut left);
            }
        }
        usage
    }

    /// What uses this place. What holds for a place around it holds for it, too.
    pub fn at(&self, place: &Place) -> Uses {
        let mut found = Uses::default();
        let mut around = place.clone();
        loop {
            if let Some(uses) = self.uses.get(&around) {
                found.add(uses);
            }
            if around.len() == 0 {
                found.sides |= if self.is_incomplete { UNCLEAR } else { 0 };
                return found;
            }
            around.pop();
        }
    }

    /// Whether it uses this name.
    pub fn has(&self, named: Named, name: &str) -> bool {
        self.names.contains(&(named, name.to_owned()))
    }

    fn walk(
        &mut self,
        place: &mut Place,
        value: &'a Value,
        mut uses: Uses,
        left: &mut Vec<Left<'a>>,
    ) {
        if !(value.is_object() || value.is_array()) {
            return;
        }
        let more = sides_of(place, value, uses.sides);
        if more != uses.sides {
            if more & !uses.sides & COMPOSED != 0 {
                uses.composition = Some(place.to_string().into());
            }
            uses.sides = more;
            self.uses.entry(place.clone()).or_default().add(&uses);
        }
        self.note(place, value, uses.sides);
        if place.is_whole() {
            return;
        }
        if let Some(reference) = value["$ref"].as_str() {
            // `Document` refuses a reference that is not followed.
            let target = target(self.document, reference);
            left.extend(target.map(|(place, value)| Left { place, value, uses: uses.clone() }));
        }
        for (step, member) in members(value) {
            place.push(&step);
            self.walk(place, member, uses.clone(), left);
            place.pop();
        }
    }

    fn note(&mut self, place: &Place, value: &Value, sides: Sides) {
        // Without a list beside it, it names schemas that no `$ref` leads to.
        if value.get("discriminator").is_some() && !place.has_names() {
            self.is_incomplete |= value.get("oneOf").or(value.get("anyOf")).is_none();
        }
        let (named, found) = match place.kind() {
            "properties" | "required" if sides & COMPOSED != 0 => (Named::Composed, members(value)),
            "security" => (Named::Scheme, items(value).flat_map(members).collect()),
            "tags" => (Named::Tag, members(value)),
            _ => return,
        };
        self.names.extend(found.into_iter().map(|(name, _)| (named, name.into_owned())));
    }
}

/// The uses of a value. `sides` is that of what leads to it.
fn sides_of(place: &Place, value: &Value, sides: Sides) -> Sides {
    match place.kind() {
        "not" if sides != 0 => sides | UNCLEAR,
        _ if sides != 0 && !place.has_names() && is_composition(value) => sides | COMPOSED,
        _ if sides != 0 => sides,
        "requestBody" | "parameters" => REQUEST,
        "responses" => RESPONSE,
        "callbacks" => UNCLEAR,
        _ => 0,
    }
}

/// Whether a schema has parts that limit each other. An `allOf` of one part, with only words beside
/// it, is the same as that part: this is how OpenAPI 3.0 gives a reference a description.
fn is_composition(schema: &Value) -> bool {
    let is_harmless =
        |key: &str| matches!(key, "allOf" | "nullable" | "deprecated") || is_word(key);
    let mut keys = schema.as_object().into_iter().flat_map(|schema| schema.keys());
    let is_one_part = items(&schema["allOf"]).count() == 1 && keys.all(|key| is_harmless(key));
    ["allOf", "anyOf", "oneOf", "not"].iter().any(|key| schema.get(key).is_some()) && !is_one_part
}
