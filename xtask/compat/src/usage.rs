//! What a document uses: which of its parts are used by requests and which by responses, through
//! every `$ref`, and which security schemes and tags its operations have.
//!
//! If a discriminator names schemas that no list beside it has, every part counts as unclear.
//! Otherwise a part could seem to be used by requests alone.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use serde_json::Value;

use crate::members::{items, members};
use crate::place::{Place, is_prose};
use crate::reference::target;

/// What uses a part of a document.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "each may hold beside each other")]
pub struct Users {
    /// What a consumer sends.
    pub request: bool,
    /// What a consumer receives.
    pub response: bool,
    /// A callback, or a schema below `not`. It is unclear what a change means there.
    pub unclear: bool,
    /// A composition, whose parts limit each other.
    pub composed: bool,
}

impl Users {
    const NONE: Self = Self { request: false, response: false, unclear: false, composed: false };
    pub const REQUEST: Self = Self { request: true, ..Self::NONE };
    pub const RESPONSE: Self = Self { response: true, ..Self::NONE };
    const UNCLEAR: Self = Self { unclear: true, ..Self::NONE };

    /// Whether anything uses it.
    pub fn is_any(self) -> bool {
        self != Self::NONE
    }

    /// Whether requests use it, and nothing else but a composition.
    pub fn is_only_request(self) -> bool {
        self.request && !self.response && !self.unclear
    }

    /// Whether responses use it, and nothing else but a composition.
    pub fn is_only_response(self) -> bool {
        self.response && !self.request && !self.unclear
    }

    /// Whether a change there means what it seems to mean.
    pub fn is_plain(self) -> bool {
        !self.composed && !self.unclear
    }

    fn or(self, other: Self) -> Self {
        Self {
            request: self.request || other.request,
            response: self.response || other.response,
            unclear: self.unclear || other.unclear,
            composed: self.composed || other.composed,
        }
    }
}

/// The uses of a place.
#[derive(Clone, Default)]
pub struct Uses {
    pub users: Users,
    /// A composition that it is a part of.
    pub composition: Option<Rc<str>>,
}

impl Uses {
    fn add(&mut self, other: &Self) {
        self.users = self.users.or(other.users);
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
    entered: HashSet<(Place, Users)>,
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
            if usage.entered.insert((place.clone(), uses.users)) {
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
                found.users.unclear |= self.is_incomplete;
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
        let here = users_of(place, value, uses.users);
        if here != uses.users {
            if here.composed && !uses.users.composed {
                uses.composition = Some(place.to_string().into());
            }
            uses.users = here;
            self.uses.entry(place.clone()).or_default().add(&uses);
        }
        self.note(place, value, uses.users);
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

    fn note(&mut self, place: &Place, value: &Value, users: Users) {
        // Without a list beside it, it names schemas that no `$ref` leads to.
        if value.get("discriminator").is_some() && !place.has_names() {
            self.is_incomplete |= value.get("oneOf").or(value.get("anyOf")).is_none();
        }
        let (named, found) = match place.kind() {
            "properties" | "required" if users.composed => (Named::Composed, members(value)),
            "security" => (Named::Scheme, items(value).flat_map(members).collect()),
            "tags" => (Named::Tag, members(value)),
            _ => return,
        };
        self.names.extend(found.into_iter().map(|(name, _)| (named, name.into_owned())));
    }
}

/// What uses a value, if `around` is what uses the value that holds it.
fn users_of(place: &Place, value: &Value, around: Users) -> Users {
    if around.is_any() {
        return if place.kind() == "not" {
            Users { unclear: true, ..around }
        } else if !place.has_names() && is_composition(value) {
            Users { composed: true, ..around }
        } else {
            around
        };
    }
    match place.kind() {
        "requestBody" | "parameters" => Users::REQUEST,
        "responses" => Users::RESPONSE,
        "callbacks" => Users::UNCLEAR,
        _ => Users::NONE,
    }
}

/// Whether a schema has parts that limit each other. An `allOf` of one part, with only words beside
/// it, is the same as that part: this is how OpenAPI 3.0 gives a reference a description.
fn is_composition(schema: &Value) -> bool {
    let is_harmless =
        |key: &str| matches!(key, "allOf" | "nullable" | "deprecated") || is_prose(key);
    let mut keys = schema.as_object().into_iter().flat_map(|schema| schema.keys());
    let is_one_part = items(&schema["allOf"]).count() == 1 && keys.all(|key| is_harmless(key));
    ["allOf", "anyOf", "oneOf", "not"].iter().any(|key| schema.get(key).is_some()) && !is_one_part
}
