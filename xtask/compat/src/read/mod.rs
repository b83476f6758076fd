//! Reads a document into its normal form: removes every difference that means nothing.
//!
//! What is equal afterwards, by the sections of OpenAPI 3.0.3:
//!
//! | written | equal to | section |
//! | --- | --- | --- |
//! | a default value (the table of keywords) | its absence | of each object |
//! | a limit of another type: `maxLength` of an integer | its absence | Schema Object |
//! | no `style` or `explode` of a parameter | the default | Parameter Object |
//! | a header `Accept`, `Authorization`, `Content-Type` | its absence | Parameter Object |
//! | `security` of the document at an operation | its absence there | Operation Object |
//! | `security: []` | `security: [{}]`: anybody | Security Requirement Object |
//! | the name of an apiKey header in another case | the same name | RFC 9110, section 5.1 |
//! | `servers` of the document at an operation; `[{"url": "/"}]` | their absence | OpenAPI Object |
//! | `nullable` of a parameter that is text | its absence | Parameter Object, `style` |
//! | `encoding` of anything but a form in a request | its absence | Media Type Object |
//! | `xml` in a document without a media type of XML | its absence | Schema Object |
//! | parameters of a path | the same parameters at each operation | Path Item Object |
//! | `$ref` with siblings | the `$ref` alone | Reference Object |
//! | `$ref` | its target; only generated types use its name | Reference Object |
//! | `allOf` of several parts | one schema that says the same | Schema Object |
//! | `allOf`, `oneOf`, `anyOf` of one part, described or not | the part | Schema Object |
//! | `oneOf` of enumerations, such as documented unit variants | one enumeration | Schema Object |
//! | a part or a value that only allows null | `nullable: true` | Schema Object |
//! | a mapping of a discriminator to the names of types | no mapping | Discriminator Object |
//! | `minimum: 0` of an unsigned format | its absence | Data Types |
//! | `exclusiveMinimum` 0 of an integer | `minimum` 1 | Schema Object |
//! | a list without an order | the sorted list | |

mod discriminator;
mod field;
mod media;
mod merge;
mod number;
mod operation;
mod schema;
mod security;
mod whole;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use anyhow::{Context, Result, bail, ensure};

use crate::keyword::{Rule, keyword};
use crate::model::{Model, Notes, Origin, Pointer, Prints, Schema, hash};
use crate::tree::{Json, Tree, decoded, step};
use discriminator::{Children, Mapping};
pub use media::{includes, is_same_in_utf_8};
pub use merge::joined;
pub use number::{is_multiple, order};

/// Reads a document.
pub fn model(tree: &Tree) -> Result<Model> {
    let mut reader = Reader {
        tree,
        children: Children::of(tree.root()),
        mappings: BTreeMap::new(),
        model: Model::default(),
        open: Vec::new(),
        merged: 0,
        pending: Vec::new(),
        has_xml: false,
    };
    reader.has_xml = media::has_xml(tree.root());
    reader.operations()?;
    reader.schemas()?;
    reader.model.prints = Prints::of(&reader.model.schemas);
    reader.model.rest = rest(tree.root());
    Ok(reader.model)
}

struct Reader<'t> {
    tree: &'t Tree,
    children: Children,
    /// The mappings of the discriminators, by the place of the discriminator.
    mappings: BTreeMap<String, Mapping>,
    model: Model,
    /// The schemas that are being read, the innermost last.
    open: Vec<Pointer>,
    /// The number of members that were copied from a type into another one.
    merged: usize,
    /// Schemas that are still to be read.
    pending: Vec<Pointer>,
    has_xml: bool,
}

impl<'t> Reader<'t> {
    /// Reads every schema that has a name, or that a reference leads to.
    fn schemas(&mut self) -> Result<()> {
        let named = self.tree.find(Pointer::TYPES).into_iter().flat_map(Json::entries);
        self.pending.extend(named.map(|(name, _)| Pointer::new(&step(Pointer::TYPES, name))));
        while let Some(pointer) = self.pending.pop() {
            target(self.tree, pointer.as_str())?;
            self.root(&pointer);
        }
        Ok(())
    }

    /// Reads the schema of a pointer once. A pointer that leads nowhere allows every value.
    fn root(&mut self, pointer: &Pointer) -> Rc<Schema> {
        if let Some(schema) = self.model.schemas.get(pointer) {
            return schema.clone();
        }
        self.open.push(pointer.clone());
        let schema = self.tree.find(pointer.as_str()).map_or_else(
            || Rc::new(Schema::any(self.tree.place(pointer.as_str()))),
            |json| self.schema(json, schema::Position::Root),
        );
        self.open.pop();
        self.model.schemas.insert(pointer.clone(), schema.clone());
        schema
    }

    /// Follows all references to an object.
    fn followed(&self, mut json: Json<'t>) -> Result<Json<'t>> {
        for _ in 0..LONGEST_CHAIN {
            let Some(reference) = json.reference() else {
                ensure!(json.is_object(), "{} is not an object", json.pointer());
                return Ok(json);
            };
            let target = target(self.tree, reference)?;
            json = target.with_context(|| format!("the `$ref` `{reference}` leads nowhere"))?;
        }
        bail!("the `$ref` {:?} leads in a circle", json.reference().unwrap_or_default())
    }
}

/// The longest chain of references that is followed.
pub const LONGEST_CHAIN: usize = 100;

/// The value to which a reference leads.
fn target<'t>(tree: &'t Tree, reference: &str) -> Result<Option<Json<'t>>> {
    let pointer = decoded(reference);
    ensure!(
        pointer.starts_with('#'),
        "the `$ref` `{reference}` leads out of the document: bundle the files first"
    );
    Ok(tree.find(&pointer))
}

/// The keywords of an object that are left to be read. What means the same as its absence is left
/// out, and so is the reference that the object consists of.
struct Keywords<'t> {
    object: Json<'t>,
    left: BTreeMap<&'t str, Json<'t>>,
}

impl<'t> Keywords<'t> {
    fn of(object: Json<'t>) -> Self {
        let entries = object.entries().filter(|(name, value)| {
            !keyword(name).map_or(value.is_null(), |keyword| keyword.is_absent(*value))
        });
        Self { object, left: entries.map(|(name, value)| (&**name, value)).collect() }
    }

    /// Takes a keyword out whose value is of the right shape.
    fn take(&mut self, name: &str) -> Option<Json<'t>> {
        let fits = |value: &Json<'t>| keyword(name).is_none_or(|keyword| keyword.fits(*value));
        let value = self.left.get(name).copied().filter(fits)?;
        self.left.remove(name);
        Some(value)
    }

    fn take_text(&mut self, name: &str) -> Option<&'t str> {
        self.take(name)?.text()
    }

    fn take_flag(&mut self, name: &str) -> bool {
        self.take(name).is_some_and(Json::is_true)
    }

    /// What is left: texts, extensions, and the keywords without a rule.
    fn notes(mut self) -> Notes {
        let is_deprecated = self.take_flag("deprecated");
        let place = self.object.place();
        let mut notes = Notes { is_deprecated, origin: Origin::at(place), ..Notes::default() };
        for (name, value) in self.left {
            match keyword(name) {
                Some(keyword) if keyword.rule == Rule::Words => {
                    notes.origin.words.push((keyword.name, hash(&value.to_string())));
                }
                _ if name.starts_with("x-") => {
                    notes.extensions.insert(name.into(), value.to_string().into());
                }
                _ => {
                    notes.unknown.insert(name.into(), value.to_string().into());
                }
            }
        }
        notes
    }
}

/// The items of a list. The list may be missing.
fn list<'t>(
    name: &str,
    value: Option<Json<'t>>,
) -> Result<impl Iterator<Item = Json<'t>> + use<'t>> {
    let value = value.filter(|value| !value.is_null());
    ensure!(value.is_none_or(Json::is_list), "`{name}` is not an array");
    Ok(value.into_iter().flat_map(Json::items))
}

/// What belongs to no operation and no schema. The version says what the changes mean, and is no
/// change itself.
fn rest(document: Json<'_>) -> Vec<(&'static str, Notes)> {
    let mut root = Keywords::of(document);
    for name in ["openapi", "paths", "security", "servers"] {
        root.left.remove(name);
    }
    let mut all = Vec::new();
    let words = ["info", "tags"].map(|name| (name, root.left.remove(name)));
    if let Some(json) = root.left.remove("components").filter(|json| json.is_object()) {
        let mut components = Keywords::of(json);
        components.left.retain(|name, _| !USED.contains(name));
        all.push(("components", components.notes()));
    }
    if let Some(json) = document.get("paths") {
        let mut paths = Keywords::of(json);
        paths.left.retain(|name, _| name.starts_with("x-"));
        all.push(("paths", paths.notes()));
    }
    let mut notes = root.notes();
    for (name, value) in words {
        let print = match value {
            Some(info) if name == "info" => hash(
                &info
                    .entries()
                    .filter(|(name, _)| &***name != "version")
                    .map(|(name, value)| format!("{name}: {value}"))
                    .collect::<Vec<_>>(),
            ),
            Some(tags) => hash(&tags.items().map(|tag| tag.to_string()).collect::<BTreeSet<_>>()),
            None => continue,
        };
        notes.origin.words.push((name, print));
    }
    all.push(("", notes));
    all
}

/// The kinds of components that are compared where an operation uses them (Components Object).
const USED: [&str; 9] = [
    "callbacks",
    "examples",
    "headers",
    "links",
    "parameters",
    "requestBodies",
    "responses",
    "schemas",
    "securitySchemes",
];
