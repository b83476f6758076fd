//! The keywords of OpenAPI 3.0.3: to what each keyword applies, its default value, and how a change
//! of it is judged. A keyword that is not in the table is unknown.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::Value;

use crate::kind::Kind;

/// The JSON type of a keyword's value. With a value of another type, the keyword is unknown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    Any,
    Bool,
    Number,
    Text,
    List,
    Object,
}

/// The default of a keyword: the value that means the same as no value. Null always does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum DefaultValue {
    None,
    Empty,
    Form,
    Zero,
    False,
    True,
}

/// How a change of the keyword is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The model has a field for the keyword, and the comparison of the field judges the change.
    Field,
    /// The larger number allows more.
    Most,
    /// The smaller number allows more.
    Least,
    /// A divisor of the older number allows more.
    Multiple,
    /// The check cannot tell which of two values allows more.
    Opaque,
    /// The keyword is text for people.
    Words,
    /// The value is compared as a whole. The kinds of change if it is added, changed or removed.
    Whole { added: Kind, changed: Kind, removed: Kind },
}

/// A keyword.
pub struct Keyword {
    pub name: &'static str,
    /// The types that the keyword limits, or the objects that may have it. Empty for all of them.
    pub types: &'static [&'static str],
    shape: Shape,
    default: DefaultValue,
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
    ($($name:literal $types:ident $shape:ident $default:ident
        $rule:ident $(($added:ident, $changed:ident, $removed:ident))?)*) => {
        &[$(Keyword {
            name: $name,
            types: $types,
            shape: Shape::$shape,
            default: DefaultValue::$default,
            rule: Rule::$rule
                $({ added: Kind::$added, changed: Kind::$changed, removed: Kind::$removed })?,
        },)*]
    };
}

/// The columns are the name, the types, the shape, the default and the rule.
const KEYWORDS: &[Keyword] = table! {
    // Limits of a Schema Object.
    "exclusiveMaximum"      NUMBER Bool   False Field
    "exclusiveMinimum"      NUMBER Bool   False Field
    "maximum"               NUMBER Number None  Most
    "minimum"               NUMBER Number None  Least
    "multipleOf"            NUMBER Number None  Multiple
    "maxLength"             STRING Number None  Most
    "minLength"             STRING Number Zero  Least
    "pattern"               STRING Text   Empty Opaque
    "maxItems"              ARRAY  Number None  Most
    "minItems"              ARRAY  Number Zero  Least
    "uniqueItems"           ARRAY  Bool   False Opaque
    "maxProperties"         OBJECT Number None  Most
    "minProperties"         OBJECT Number Zero  Least

    // The other keywords of a Schema Object.
    "additionalProperties"  ANY    Any    True  Field
    "allOf"                 ANY    List   Empty Field
    "anyOf"                 ANY    List   Empty Field
    "default"               ANY    Any    None  Field
    "discriminator"         ANY    Object None  Field
    "enum"                  ANY    List   Empty Field
    "format"                ANY    Text   Empty Field
    "items"                 ANY    Object None  Field
    "not"                   ANY    Object None  Field
    "nullable"              ANY    Bool   False Field
    "oneOf"                 ANY    List   Empty Field
    "properties"            ANY    Object Empty Field
    "readOnly"              ANY    Bool   False Field
    "type"                  ANY    Text   None  Field
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
    "explode"               ANY    Bool   None  Field
    "headers"               ANY    Object Empty Field
    "in"                    ANY    Text   None  Field
    "links"                 RESPONSE Object Empty Whole(Link, Link, Link)
    "name"                  ANY    Text   None  Field
    "operationId"           OPERATION Text None  Whole(OperationId, OperationId, OperationId)
    "parameters"            ANY    List   Empty Field
    "requestBody"           ANY    Object None  Field
    "required"              ANY    Any    False Field
    "responses"             ANY    Object None  Field
    "schema"                ANY    Any    None  Field
    "security"              ANY    List   None  Field
    "servers"               ANY    List   Empty Field
    "style"                 ANY    Text   Form  Field
    "tags"                  OPERATION List Empty Whole(Tag, Tag, Tag)
    "x-dropshot-pagination" OPERATION Any None  Whole(Pagination, Extension, Pagination)
    "x-dropshot-websocket"  OPERATION Any None  Whole(Websocket, Websocket, Websocket)

    "x-idempotent"          OPERATION Bool False Whole(PromiseAdded, PromiseRemoved, PromiseRemoved)

    // Text for people.
    "description"           ANY    Any    None  Words
    "example"               ANY    Any    None  Words
    "examples"              ANY    Any    Empty Words
    "externalDocs"          ANY    Any    None  Words
    "summary"               ANY    Any    None  Words
    "title"                 ANY    Any    None  Words
};

static BY_NAME: LazyLock<HashMap<&str, &Keyword>> =
    LazyLock::new(|| KEYWORDS.iter().map(|keyword| (keyword.name, keyword)).collect());

/// The keyword of this name.
pub fn keyword(name: &str) -> Option<&'static Keyword> {
    BY_NAME.get(name).copied()
}

impl Keyword {
    /// Whether this value is the default, which means the same as no value (OpenAPI 3.0.3, section
    /// of each object). Some generators write `null` for no value.
    pub fn is_default(&self, value: &Value) -> bool {
        match (value, self.default) {
            (Value::Null, _) => true,
            (Value::Bool(value), DefaultValue::False) => !value,
            (Value::Bool(value), DefaultValue::True) => *value,
            (Value::Number(number), DefaultValue::Zero) => number.as_f64() == Some(0.0),
            (Value::String(text), DefaultValue::Empty) => text.is_empty(),
            (Value::String(text), DefaultValue::Form) => text == "form",
            (Value::Array(items), _) if self.name == "required" => items.is_empty(),
            (Value::Array(items), DefaultValue::Empty) => items.is_empty(),
            (Value::Object(members), DefaultValue::Empty) => members.is_empty(),
            _ => false,
        }
    }

    /// Whether the value has the type that OpenAPI requires.
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
    pub fn applies_to(&self, type_: Option<&str>) -> bool {
        self.types.is_empty() || type_.is_none_or(|type_| self.types.contains(&type_))
    }
}
