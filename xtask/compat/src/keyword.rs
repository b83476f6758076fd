//! The keywords of OpenAPI 3.0.3: to what each keyword applies, its default value, and how a change
//! of it is judged. A keyword that is not in the table is unknown. Of two limits, integers beyond
//! 2^53 are compared exactly.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::kind::Kind;

/// How a change of the keyword is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The model has a field for the keyword, and the comparison of the field judges the change.
    Field,
    /// The larger number allows more.
    Most,
    /// The smaller number allows more.
    Least,
    /// The check cannot tell which of two values allows more.
    Opaque,
    /// The keyword is text for people.
    Words,
    /// The value is compared as a whole. The kinds of change if it is added, and if it is changed
    /// or removed.
    Whole { added: Kind, changed: Kind },
}

/// A keyword.
pub struct Keyword {
    pub name: &'static str,
    /// The types that the keyword limits, or the objects that may have it. Empty for all of them.
    pub types: &'static [&'static str],
    /// Whether a value has the type that OpenAPI requires. With another value, the keyword is
    /// unknown.
    pub fits: fn(&Value) -> bool,
    /// The value that means the same as no value (OpenAPI 3.0.3, section of each object).
    default: Value,
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

macro_rules! fits {
    (Any) => {
        |_| true
    };
    ($type:ident) => {
        |value| matches!(value, Value::$type(..))
    };
}

/// The columns are the name, the types, the JSON type of the value, the default and the rule.
macro_rules! keywords {
    ($($name:literal $types:ident $type:ident $default:tt
        $rule:ident $(($added:ident, $changed:ident))?)*) => {
        static KEYWORDS: LazyLock<HashMap<&str, Keyword>> = LazyLock::new(|| {
            let all = [$(Keyword {
                name: $name,
                types: $types,
                fits: fits!($type),
                default: json!($default),
                rule: Rule::$rule
                    $({ added: Kind::$added, changed: Kind::$changed })?,
            },)*];
            HashMap::from(all.map(|keyword| (keyword.name, keyword)))
        });
    };
}

keywords! {
    // Limits of a Schema Object.
    "exclusiveMaximum"      NUMBER    Bool   false  Opaque
    "exclusiveMinimum"      NUMBER    Bool   false  Opaque
    "maximum"               NUMBER    Number null   Most
    "minimum"               NUMBER    Number null   Least
    "multipleOf"            NUMBER    Number null   Opaque
    "maxLength"             STRING    Number null   Most
    "minLength"             STRING    Number 0      Least
    "pattern"               STRING    String ""     Opaque
    "maxItems"              ARRAY     Number null   Most
    "minItems"              ARRAY     Number 0      Least
    "uniqueItems"           ARRAY     Bool   false  Opaque
    "maxProperties"         OBJECT    Number null   Most
    "minProperties"         OBJECT    Number 0      Least

    // The other keywords of a Schema Object.
    "additionalProperties"  ANY       Any    true   Field
    "allOf"                 ANY       Array  []     Field
    "anyOf"                 ANY       Array  []     Field
    "default"               ANY       Any    null   Field
    "discriminator"         ANY       Object null   Field
    "enum"                  ANY       Array  []     Field
    "format"                ANY       String ""     Field
    "items"                 ANY       Object null   Field
    "nullable"              ANY       Bool   false  Field
    "oneOf"                 ANY       Array  []     Field
    "properties"            ANY       Object {}     Field
    "readOnly"              ANY       Bool   false  Field
    "type"                  ANY       String null   Field
    "writeOnly"             ANY       Bool   false  Field
    "x-error-codes"         ANY       Array  []     Field
    "x-extensible-enum"     ANY       Array  []     Field
    "not"                   SCHEMA    Object null   Whole(LimitTightened, Limit)
    "xml"                   SCHEMA    Object {}     Whole(Whole, Whole)

    // Keywords of other objects.
    "allowEmptyValue"       FIELD     Bool   false  Whole(EncodingAdded, Encoding)
    "allowReserved"         FIELD     Bool   false  Whole(EncodingAdded, Encoding)
    "callbacks"             OPERATION Object {}     Whole(Whole, Whole)
    "content"               ANY       Object {}     Field
    "deprecated"            ANY       Bool   false  Whole(Deprecation, Deprecation)
    "encoding"              MEDIA     Object {}     Whole(Whole, Whole)
    "explode"               ANY       Bool   null   Field
    "headers"               ANY       Object {}     Field
    "in"                    ANY       String null   Field
    "links"                 RESPONSE  Object {}     Whole(Hint, Hint)
    "name"                  ANY       String null   Field
    "operationId"           OPERATION String null   Whole(OperationId, OperationId)
    "parameters"            ANY       Array  []     Field
    "requestBody"           ANY       Object null   Field
    "required"              ANY       Any    false  Field
    "responses"             ANY       Object null   Field
    "schema"                ANY       Any    null   Field
    "security"              ANY       Array  null   Field
    "servers"               ANY       Array  []     Field
    "style"                 ANY       String "form" Field
    "tags"                  OPERATION Array  []     Whole(Hint, Hint)
    "x-dropshot-pagination" OPERATION Any    null   Whole(Pagination, Pagination)
    "x-dropshot-websocket"  OPERATION Any    null   Whole(Whole, Whole)

    "x-idempotent"          OPERATION Bool false Whole(PromiseAdded, PromiseRemoved)

    // Text for people.
    "description"           ANY       Any    null   Words
    "example"               ANY       Any    null   Words
    "examples"              ANY       Any    {}     Words
    "externalDocs"          ANY       Any    null   Words
    "summary"               ANY       Any    null   Words
    "title"                 ANY       Any    null   Words
}

/// The keyword of this name.
pub fn keyword(name: &str) -> Option<&'static Keyword> {
    KEYWORDS.get(name)
}

impl Keyword {
    /// Whether this value means the same as no value. Some generators write `null` for no value.
    pub fn is_default(&self, value: &Value) -> bool {
        let is_default = match value {
            Value::Number(number) => number.as_f64() == self.default.as_f64(),
            // In a schema, `required` is a list.
            Value::Array(items) if self.name == "required" => items.is_empty(),
            _ => *value == self.default,
        };
        value.is_null() || is_default
    }

    pub fn is_limit(&self) -> bool {
        matches!(self.rule, Rule::Most | Rule::Least | Rule::Opaque)
    }

    /// Whether the keyword applies to values of a type, or to an object of OpenAPI.
    pub fn applies_to(&self, type_: Option<&str>) -> bool {
        self.types.is_empty() || type_.is_none_or(|type_| self.types.contains(&type_))
    }
}

/// Which of two values of a limit such as `maximum` allows more, as JSON: `Greater` if the first
/// one does. `None` if the check cannot tell.
pub fn allows(name: &str, one: &str, other: &str) -> Option<Ordering> {
    match keyword(name)?.rule {
        Rule::Most => order(one, other),
        Rule::Least => order(other, one),
        _ => None,
    }
}

/// Compares two numbers.
fn order(one: &str, other: &str) -> Option<Ordering> {
    match (integer(one), integer(other)) {
        (Some(one), Some(other)) => Some(one.cmp(&other)),
        _ => number(one)?.partial_cmp(&number(other)?),
    }
}

fn integer(limit: &str) -> Option<i128> {
    limit.parse().ok()
}

fn number(limit: &str) -> Option<f64> {
    limit.parse().ok()
}
