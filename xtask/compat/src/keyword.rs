//! The keywords of OpenAPI 3.0.3: what each applies to, which value means the same as its absence,
//! and how a change of it is judged. A keyword that is not in the table is unknown.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::Value;

use crate::kind::Kind;

/// What the value of a keyword must be. Any other value makes it an unknown keyword.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    Any,
    Bool,
    Number,
    Text,
    List,
    Object,
}

/// Which value means the same as the absence of the keyword, beside null.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Absent {
    Never,
    Empty,
    Form,
    Zero,
    False,
    True,
}

/// How a change of the keyword is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// A field of the model has its own rule.
    Field,
    /// The larger number allows more.
    Most,
    /// The smaller number allows more.
    Least,
    /// A divisor of the number allows more.
    Multiple,
    /// Nobody can tell which of two values allows more.
    Opaque,
    /// It is text for people.
    Words,
    /// The value is compared as a whole: how it is judged if it comes, changes, or goes.
    Whole(Kind, Kind, Kind),
}

/// A keyword.
pub struct Keyword {
    pub name: &'static str,
    /// The types that the keyword limits, or the object that has it; empty if it applies to all.
    pub types: &'static [&'static str],
    shape: Shape,
    absent: Absent,
    pub rule: Rule,
}

const STRING: &[&str] = &["string"];
const NUMBER: &[&str] = &["number", "integer"];
const ARRAY: &[&str] = &["array"];
const OBJECT: &[&str] = &["object"];
const ANY: &[&str] = &[];
const SCHEMA: &[&str] = &["schema"];
const FIELD: &[&str] = &["field"];
const MEDIA: &[&str] = &["media"];
const RESPONSE: &[&str] = &["response"];
const OPERATION: &[&str] = &["operation"];

macro_rules! table {
    ($($name:literal $types:ident $shape:ident $absent:ident $rule:ident $(($($kind:ident),*))?)*) => {
        &[$(Keyword {
            name: $name,
            types: $types,
            shape: Shape::$shape,
            absent: Absent::$absent,
            rule: Rule::$rule$(($(Kind::$kind),*))?,
        },)*]
    };
}

const KEYWORDS: &[Keyword] = table! {
    // Limits of a Schema Object.
    "exclusiveMaximum"      NUMBER Bool   False Field
    "exclusiveMinimum"      NUMBER Bool   False Field
    "maximum"               NUMBER Number Never Most
    "minimum"               NUMBER Number Never Least
    "multipleOf"            NUMBER Number Never Multiple
    "maxLength"             STRING Number Never Most
    "minLength"             STRING Number Zero  Least
    "pattern"               STRING Text   Empty Opaque
    "maxItems"              ARRAY  Number Never Most
    "minItems"              ARRAY  Number Zero  Least
    "uniqueItems"           ARRAY  Bool   False Opaque
    "maxProperties"         OBJECT Number Never Most
    "minProperties"         OBJECT Number Zero  Least

    // The other keywords of a Schema Object.
    "additionalProperties"  ANY    Any    True  Field
    "allOf"                 ANY    List   Empty Field
    "anyOf"                 ANY    List   Empty Field
    "default"               ANY    Any    Never Field
    "discriminator"         ANY    Object Never Field
    "enum"                  ANY    List   Empty Field
    "format"                ANY    Text   Empty Field
    "items"                 ANY    Object Never Field
    "not"                   ANY    Object Never Field
    "nullable"              ANY    Bool   False Field
    "oneOf"                 ANY    List   Empty Field
    "properties"            ANY    Object Empty Field
    "readOnly"              ANY    Bool   False Field
    "type"                  ANY    Text   Never Field
    "writeOnly"             ANY    Bool   False Field
    "x-error-codes"         ANY    List   Empty Field
    "x-extensible-enum"     ANY    List   Empty Field
    "xml"                   SCHEMA Object Empty Whole(Xml, Xml, Xml)

    // Keywords of other objects. In a schema, `required` is a list.
    "allowEmptyValue"       FIELD  Bool   False Whole(EncodingAdded, Encoding, Encoding)
    "allowReserved"         FIELD  Bool   False Whole(EncodingAdded, Encoding, Encoding)
    "callbacks"             OPERATION Object Empty Whole(Callback, Callback, Callback)
    "content"               ANY    Object Empty Field
    "deprecated"            ANY    Bool   False Whole(Deprecation, Deprecation, Deprecation)
    "encoding"              MEDIA  Object Empty Whole(Encoding, Encoding, Encoding)
    "explode"               ANY    Bool   Never Field
    "headers"               ANY    Object Empty Field
    "in"                    ANY    Text   Never Field
    "links"                 RESPONSE Object Empty Whole(Link, Link, Link)
    "name"                  ANY    Text   Never Field
    "operationId"           OPERATION Text Never Whole(OperationId, OperationId, OperationId)
    "parameters"            ANY    List   Empty Field
    "requestBody"           ANY    Object Never Field
    "required"              ANY    Any    False Field
    "responses"             ANY    Object Never Field
    "schema"                ANY    Any    Never Field
    "security"              ANY    List   Never Field
    "servers"               ANY    List   Empty Field
    "style"                 ANY    Text   Form  Field
    "tags"                  OPERATION List Empty Whole(Tag, Tag, Tag)
    "x-dropshot-pagination" OPERATION Any Never Whole(Pagination, Extension, Pagination)
    "x-dropshot-websocket"  OPERATION Any Never Whole(Websocket, Websocket, Websocket)

    "x-idempotent"          OPERATION Bool False Whole(PromiseAdded, PromiseRemoved, PromiseRemoved)

    // Text for people.
    "description"           ANY    Any    Never Words
    "example"               ANY    Any    Never Words
    "examples"              ANY    Any    Empty Words
    "externalDocs"          ANY    Any    Never Words
    "summary"               ANY    Any    Never Words
    "title"                 ANY    Any    Never Words
};

static BY_NAME: LazyLock<HashMap<&str, &Keyword>> =
    LazyLock::new(|| KEYWORDS.iter().map(|keyword| (keyword.name, keyword)).collect());

/// The keyword of this name.
pub fn keyword(name: &str) -> Option<&'static Keyword> {
    BY_NAME.get(name).copied()
}

impl Keyword {
    /// Whether this value means the same as no value. OpenAPI 3.0.3 says so in the section of each
    /// object. Some writers put `null` where there is no value.
    pub fn is_absent(&self, value: &Value) -> bool {
        match (value, self.absent) {
            (Value::Null, _) => true,
            (Value::Bool(value), Absent::False) => !value,
            (Value::Bool(value), Absent::True) => *value,
            (Value::Number(number), Absent::Zero) => number.as_f64() == Some(0.0),
            (Value::String(text), Absent::Empty) => text.is_empty(),
            (Value::String(text), Absent::Form) => text == "form",
            (Value::Array(items), _) if self.name == "required" => items.is_empty(),
            (Value::Array(items), Absent::Empty) => items.is_empty(),
            (Value::Object(members), Absent::Empty) => members.is_empty(),
            _ => false,
        }
    }

    /// Whether the keyword may have this value.
    pub fn fits(&self, value: &Value) -> bool {
        match self.shape {
            Shape::Any => true,
            Shape::Bool => value.is_boolean(),
            Shape::Number => value.is_number(),
            Shape::Text => value.is_string(),
            Shape::List => value.is_array(),
            Shape::Object => value.is_object(),
        }
    }

    pub fn is_limit(&self) -> bool {
        matches!(self.rule, Rule::Most | Rule::Least | Rule::Multiple | Rule::Opaque)
    }

    /// Whether the keyword applies to values of a type, or to an object of OpenAPI.
    pub fn applies_to(&self, kind: Option<&str>) -> bool {
        self.types.is_empty() || kind.is_none_or(|kind| self.types.contains(&kind))
    }
}
