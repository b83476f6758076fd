//! Reads a document into its normal form, in which equal meanings have equal values.
//!
//! These are equal in normal form, by the sections of OpenAPI 3.0.3:
//!
//! | in the document | equal to | section |
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
//! | parameters of a path | the same parameters at each operation | Path Item Object |
//! | `$ref` with siblings | the `$ref` alone | Reference Object |
//! | `$ref` | its target, but generators name a type after it | Reference Object |
//! | `allOf` of several parts | the merged schema | Schema Object |
//! | `allOf`, `oneOf`, `anyOf` of one part, described or not | the part | Schema Object |
//! | `oneOf` of enumerations, such as documented unit variants | one enumeration | Schema Object |
//! | null in `enum`, or as a schema of `oneOf` | `nullable: true` | Schema Object |
//! | a mapping of a discriminator to the names of types | no mapping | Discriminator Object |
//! | `minimum: 0` of an unsigned format | its absence | Data Types |
//! | a list whose order means nothing | the sorted list | |

mod discriminator;
mod field;
mod keywords;
mod merge;
mod operation;
mod schema;
mod security;

use std::rc::Rc;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::json::{Json, decoded, step};
use crate::model::{Extras, Model, Pointer, Schema};
use discriminator::Children;
use keywords::{Keywords, MOST_VALUES, within};

/// Reads a document.
pub fn model(document: &Value) -> Result<Model> {
    let document = Json::root(document);
    let mut reader = Reader {
        children: Children::of(&document),
        model: Model::default(),
        open: Vec::new(),
        copied: 0,
        copied_values: 0,
        pending: Vec::new(),
        document,
    };
    reader.operations()?;
    reader.schemas()?;
    reader.model.extras = reader.document_extras();
    ensure!(
        reader.copied_values < MOST_VALUES,
        "the references in callbacks, `encoding` and the like lead to too many values"
    );
    Ok(reader.model)
}

struct Reader<'t> {
    document: Json<'t>,
    children: Children,
    model: Model,
    /// The schemas that are being read, the innermost last.
    open: Vec<Pointer>,
    /// The number of properties that were copied from one type into another one by `allOf`.
    copied: usize,
    /// The number of values that were copied into those that are compared as a whole.
    copied_values: usize,
    /// The schemas to be read.
    pending: Vec<Pointer>,
}

impl<'t> Reader<'t> {
    /// Reads every schema of `components/schemas`, and every other target of a reference.
    fn schemas(&mut self) -> Result<()> {
        let named = self.find(Pointer::SCHEMAS).into_iter().flat_map(|one| one.entries());
        self.pending.extend(named.map(|(name, _)| Pointer::new(&step(Pointer::SCHEMAS, name))));
        while let Some(pointer) = self.pending.pop() {
            target(&self.document, pointer.as_str())?;
            self.schema_at(&pointer);
        }
        Ok(())
    }

    /// Reads the schema at a pointer, if it was not read before. A missing target allows any value.
    fn schema_at(&mut self, pointer: &Pointer) -> Rc<Schema> {
        if let Some(schema) = self.model.schemas.get(pointer) {
            return schema.clone();
        }
        self.open.push(pointer.clone());
        let json = self.find(pointer.as_str());
        let schema = json.map(|json| self.schema(&json, schema::Position::Root));
        let schema = schema.unwrap_or_default();
        self.open.pop();
        self.model.schemas.insert(pointer.clone(), schema.clone());
        schema
    }

    /// Reads the extras of the document, of `components` and of `paths`.
    fn document_extras(&mut self) -> Extras {
        let document = self.document.clone();
        let mut root = Keywords::of(&document);
        root.unread.retain(|name, _| !READ.contains(name));
        let mut extras = self.extras(root, "document");
        for name in ["components", "paths"] {
            let object = document.get(name).filter(|json| json.is_object());
            let mut keywords = object.map(|json| Keywords::of(&json)).unwrap_or_default();
            // `paths` has paths and extensions, and nothing else counts (Paths Object).
            let is_read = |other: &str| other.starts_with("x-") || name == "components";
            keywords.unread.retain(|name, _| !COMPONENTS.contains(name) && is_read(name));
            extras.extend(within(name, self.extras(keywords, name)));
        }
        extras
    }

    fn find(&self, pointer: &str) -> Option<Json<'t>> {
        Json::find(self.document.value, pointer)
    }

    /// Follows a chain of references to an object.
    fn followed(&self, json: &Json<'t>) -> Result<Json<'t>> {
        let mut json = json.clone();
        for _ in 0..LONGEST_CHAIN {
            let Some(reference) = json.reference() else {
                ensure!(json.is_object(), "{} is not an object", json.place);
                return Ok(json);
            };
            let target = target(&self.document, reference)?;
            json = target.with_context(|| format!("the `$ref` `{reference}` leads nowhere"))?;
        }
        bail!("the `$ref` {:?} leads in a circle", json.reference().unwrap_or_default())
    }
}

/// The limit of references in a chain.
pub const LONGEST_CHAIN: usize = 100;

/// The target of a reference. `None` if it does not exist.
fn target<'t>(document: &Json<'t>, reference: &str) -> Result<Option<Json<'t>>> {
    let pointer = decoded(reference);
    ensure!(
        pointer.starts_with('#'),
        "the `$ref` `{reference}` leads out of the document: bundle the files first"
    );
    Ok(Json::find(document.value, &pointer))
}

/// The items of an array, which may be missing or null.
fn list<'t>(
    name: &str,
    value: Option<Json<'t>>,
) -> Result<impl Iterator<Item = Json<'t>> + use<'t>> {
    let value = value.filter(|value| !value.is_null());
    ensure!(value.as_ref().is_none_or(|value| value.is_array()), "`{name}` is not an array");
    Ok(value.into_iter().flat_map(|one| one.items()))
}

/// The keywords of the document that are no extras.
const READ: [&str; 7] = ["components", "info", "openapi", "paths", "security", "servers", "tags"];

/// The components, which are compared where an operation uses them (Components Object).
const COMPONENTS: [&str; 9] = [
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
