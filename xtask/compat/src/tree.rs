//! A document as it is written: its values, each with the place at which it stands.
//!
//! Nothing here knows what a value means. The members of an object are sorted by name.

use std::collections::HashMap;
use std::fmt::{self, Write};
use std::rc::Rc;

use percent_encoding::percent_decode_str;
use serde_json::Number;

use crate::text::escaped;

/// All values of a document. The root is the last one, and the values of an object or a list stand
/// side by side.
#[derive(Default)]
pub struct Tree {
    nodes: Vec<Node>,
    names: Vec<Rc<str>>,
    numbers: HashMap<Rc<str>, u32>,
}

struct Node {
    parent: u32,
    /// The number of the name; of an item of a list, its index.
    name: u32,
    value: Value,
}

/// A value. Objects and lists have the number of their first value and the count of values.
pub enum Value {
    Null,
    Bool(bool),
    Number(Number),
    Text(Box<str>),
    List(u32, u32),
    Object(u32, u32),
}

/// Where a value stands. A place inside a value that the document does not contain is the place of
/// the innermost value around it that the document contains.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place {
    node: u32,
    is_inside: bool,
}

impl Tree {
    /// The number of a name.
    pub fn name(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let (name, number): (Rc<str>, _) = (name.into(), count(self.names.len()));
        self.names.push(name.clone());
        self.numbers.insert(name, number);
        number
    }

    /// Adds the members of an object.
    pub fn object(&mut self, mut members: Vec<(u32, Value)>) -> Value {
        let names = &self.names;
        members.sort_unstable_by(|one, other| names[one.0 as usize].cmp(&names[other.0 as usize]));
        let (first, length) = self.add(members);
        Value::Object(first, length)
    }

    /// Adds the items of a list.
    pub fn list(&mut self, items: Vec<Value>) -> Value {
        let (first, length) = self.add((0..).zip(items).collect());
        Value::List(first, length)
    }

    /// Adds the root, which is the last value.
    pub fn close(&mut self, root: Value) {
        self.add(vec![(0, root)]);
        let root = count(self.nodes.len() - 1);
        self.nodes[root as usize].parent = root;
        self.nodes.shrink_to_fit();
        self.numbers = HashMap::new();
    }

    fn add(&mut self, values: Vec<(u32, Value)>) -> (u32, u32) {
        let (start, length) = (count(self.nodes.len()), count(values.len()));
        for (number, (name, value)) in (start..).zip(values) {
            if let Value::Object(first, length) | Value::List(first, length) = value {
                for node in &mut self.nodes[first as usize..(first + length) as usize] {
                    node.parent = number;
                }
            }
            self.nodes.push(Node { parent: 0, name, value });
        }
        (start, length)
    }

    /// The whole document.
    pub fn root(&self) -> Json<'_> {
        Json { tree: self, node: count(self.nodes.len() - 1) }
    }

    /// The value to which a JSON pointer leads.
    pub fn find(&self, pointer: &str) -> Option<Json<'_>> {
        let (found, is_inside) = self.nearest(pointer);
        (!is_inside).then_some(found)
    }

    /// The place of a JSON pointer.
    pub fn place(&self, pointer: &str) -> Place {
        let (found, is_inside) = self.nearest(pointer);
        Place { node: found.node, is_inside }
    }

    fn nearest(&self, pointer: &str) -> (Json<'_>, bool) {
        let mut found = self.root();
        for step in steps(pointer) {
            let Some(next) = found.below(&step) else { return (found, true) };
            found = next;
        }
        (found, false)
    }

    /// The place of a member.
    pub fn below(&self, place: Place, name: &str) -> Place {
        let next = Json { tree: self, node: place.node }.below(name);
        match next.filter(|_| !place.is_inside) {
            Some(next) => next.place(),
            None => Place { is_inside: true, ..place },
        }
    }

    /// The steps from the root to a place.
    pub fn steps(&self, place: Place) -> Vec<String> {
        let mut steps = Vec::new();
        let mut node = place.node;
        while self.nodes[node as usize].parent != node {
            steps.push(Json { tree: self, node }.name());
            node = self.nodes[node as usize].parent;
        }
        steps.reverse();
        steps
    }

    /// A place as a JSON pointer.
    pub fn pointer(&self, place: Place) -> String {
        self.steps(place).iter().fold("#".to_owned(), |pointer, name| step(&pointer, name))
    }
}

/// A document of at most 32 MiB has fewer than 2^32 values.
fn count(length: usize) -> u32 {
    u32::try_from(length).expect("the size of a document is limited")
}

/// The pointer to a member of the value at `pointer` (RFC 6901).
pub fn step(pointer: &str, name: &str) -> String {
    format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// The steps of a pointer, unescaped (RFC 6901, section 4).
pub fn steps(pointer: &str) -> impl Iterator<Item = String> {
    pointer.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~"))
}

/// A reference as a JSON pointer, which may be percent-encoded in a URL (RFC 6901, section 6).
pub fn decoded(reference: &str) -> String {
    percent_decode_str(reference).decode_utf8_lossy().into_owned()
}

/// A value of a document.
#[derive(Clone, Copy)]
pub struct Json<'t> {
    tree: &'t Tree,
    node: u32,
}

impl<'t> Json<'t> {
    pub fn value(self) -> &'t Value {
        &self.tree.nodes[self.node as usize].value
    }

    pub fn place(self) -> Place {
        Place { node: self.node, is_inside: false }
    }

    pub fn pointer(self) -> String {
        self.tree.pointer(self.place())
    }

    /// The value that contains this one. The root contains itself.
    pub fn parent(self) -> Self {
        Self { node: self.tree.nodes[self.node as usize].parent, ..self }
    }

    /// Its name or its index.
    pub fn name(self) -> String {
        let name = self.tree.nodes[self.node as usize].name;
        match self.parent().value() {
            Value::List(..) => name.to_string(),
            _ => self.tree.names.get(name as usize).map(ToString::to_string).unwrap_or_default(),
        }
    }

    /// The member of an object.
    pub fn get(self, name: &str) -> Option<Self> {
        let &Value::Object(first, length) = self.value() else { return None };
        let nodes = &self.tree.nodes[first as usize..(first + length) as usize];
        let found = nodes.binary_search_by(|node| (*self.tree.names[node.name as usize]).cmp(name));
        found.ok().map(|at| Self { node: first + count(at), ..self })
    }

    /// The member of an object, or the item of a list.
    fn below(self, name: &str) -> Option<Self> {
        if let &Value::List(first, length) = self.value() {
            let index = name.parse::<u32>().ok().filter(|index| *index < length)?;
            return Some(Self { node: first + index, ..self });
        }
        self.get(name)
    }

    /// The members of an object.
    pub fn entries(self) -> impl Iterator<Item = (&'t Rc<str>, Self)> {
        let (first, length) = match *self.value() {
            Value::Object(first, length) => (first, length),
            _ => (0, 0),
        };
        (first..first + length).map(move |node| {
            let name = self.tree.nodes[node as usize].name;
            (&self.tree.names[name as usize], Self { node, ..self })
        })
    }

    /// The items of a list.
    pub fn items(self) -> impl DoubleEndedIterator<Item = Self> {
        let (first, length) = match *self.value() {
            Value::List(first, length) => (first, length),
            _ => (0, 0),
        };
        (first..first + length).map(move |node| Self { node, ..self })
    }

    pub fn is_object(self) -> bool {
        matches!(self.value(), Value::Object(..))
    }

    pub fn is_list(self) -> bool {
        matches!(self.value(), Value::List(..))
    }

    pub fn is_true(self) -> bool {
        matches!(self.value(), Value::Bool(true))
    }

    pub fn is_null(self) -> bool {
        matches!(self.value(), Value::Null)
    }

    /// The text of a string.
    pub fn text(self) -> Option<&'t str> {
        match self.value() {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The text of a string that is a member of an object.
    pub fn text_of(self, name: &str) -> Option<&'t str> {
        self.get(name)?.text()
    }

    /// The reference that the value consists of.
    pub fn reference(self) -> Option<&'t str> {
        self.text_of("$ref")
    }

    /// A string without its quotes, a number as it is written, or any other value as JSON.
    pub fn written(self) -> String {
        match self.value() {
            Value::Number(number) => number.to_string(),
            _ => self.shown(),
        }
    }

    /// A string without its quotes, or any other value as JSON.
    pub fn shown(self) -> String {
        self.text().map_or_else(|| self.to_string(), str::to_owned)
    }
}

/// A number without a fraction as an integer: 1.0 and 1 are one number.
pub fn unified(number: &Number) -> Number {
    /// 2^63: a float without a fraction below it is an integer of 64 bits.
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    let float = number.as_f64().filter(|_| number.is_f64());
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and small")]
    let whole = |float: f64| (float.fract() == 0.0 && float.abs() < LIMIT).then_some(float as i64);
    float.and_then(whole).map_or_else(|| number.clone(), Number::from)
}

/// Writes a value as JSON without spaces, with sorted members.
impl fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value() {
            Value::Null => f.write_str("null"),
            Value::Bool(value) => write!(f, "{value}"),
            Value::Number(number) => write!(f, "{}", unified(number)),
            Value::Text(text) => f.write_str(&escaped(text)),
            Value::List(..) => {
                let mut before = '[';
                for item in self.items() {
                    write!(f, "{before}{item}")?;
                    before = ',';
                }
                f.write_str(if before == '[' { "[]" } else { "]" })
            }
            Value::Object(..) => {
                f.write_char('{')?;
                for (at, (name, member)) in self.entries().enumerate() {
                    let comma = if at > 0 { "," } else { "" };
                    write!(f, "{comma}{}:{member}", escaped(name))?;
                }
                f.write_char('}')
            }
        }
    }
}
