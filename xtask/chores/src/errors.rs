//! The table of errors of the document, and what is generated from it: lines of the client, of
//! documents and of recipes, between two markers.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use http::StatusCode;
use serde_json::{Map, Value};

/// The markers: the comment around them is that of the language.
pub const MARKERS: [&str; 2] = ["errors: generated from the contract", "end of errors"];

/// The lines of a list of errors, with placeholders in angle brackets. Braces and brackets are
/// those of the language: a set of Python is `{<retryable>}`.
pub struct Template {
    /// What stands there once.
    pub once: &'static str,
    /// What stands there for each value.
    pub each: &'static str,
}

/// The table in Markdown.
pub const TABLE: Template = Template {
    once: "| `error` | when | an example of `message` | send the same request again |\n\
           | --- | --- | --- | --- |\n",
    each: "| <error> | <meaning> | <example> | <yes if retryable> |\n",
};

const PYTHON: Template = Template {
    once: "MAY_PASS = {<retryable>}  # values of `error`, not HTTP statuses\n\
           FINAL = {<final>}\n",
    each: "",
};

/// A file that has such lines between its markers.
pub struct List {
    /// Relative to the root of the repository.
    pub path: &'static str,
    /// What stands between the markers.
    pub template: Template,
}

/// Every such file.
pub const LISTS: [List; 6] = [
    List { path: "server/WIRE.md", template: TABLE },
    List {
        path: "client/src/error_code.rs",
        template: Template {
            once: "",
            each: "    <name>, <error>, <is retryable>, <quoted meaning>;\n",
        },
    },
    List {
        path: "client/README.md",
        template: Template {
            once: "| `error` | `ErrorCode` | `is_retryable` |\n| --- | --- | --- |\n",
            each: "| <error> | `<name>` | <yes if retryable> |\n",
        },
    },
    List {
        path: "tests/conformance/recipes/with_fetch.ts",
        template: Template {
            once: "const MAY_PASS = [<retryable>]; // values of `error`, not HTTP statuses\n\
                   const FINAL = [<final>];\n",
            each: "",
        },
    },
    List { path: "tests/conformance/recipes/with_httpx.py", template: PYTHON },
    List { path: "tests/conformance/recipes/with_requests.py", template: PYTHON },
];

/// What documents and programs say about a value of `error`.
struct Row {
    number: u16,
    /// Its name in RFC 9110, without spaces.
    name: String,
    meaning: String,
    is_retryable: bool,
    /// A `message` that comes with it.
    example: String,
}

/// The values of `error`, in the order of the document.
pub struct Errors {
    rows: Vec<Row>,
}

impl Errors {
    /// From `x-error-codes`, and from the examples of the responses of all operations.
    pub fn of(document: &Value) -> Result<Self> {
        let codes = document.pointer("/components/schemas/Error/properties/error/x-error-codes");
        let codes =
            codes.and_then(Value::as_array).context("`Error.error` has no x-error-codes")?;
        let examples = examples(document);
        let rows = codes.iter().map(|code| Row::of(code, &examples));
        Ok(Self { rows: rows.collect::<Result<_>>()? })
    }

    /// The values after which the same plant may be sent again.
    #[must_use]
    pub fn retryable(&self) -> String {
        self.numbers(true)
    }

    /// The values that may be retried, or those that may not.
    fn numbers(&self, are_retryable: bool) -> String {
        let rows = self.rows.iter().filter(|row| row.is_retryable == are_retryable);
        rows.map(|row| row.number.to_string()).collect::<Vec<_>>().join(", ")
    }

    /// The lines of a template, filled.
    #[must_use]
    pub fn lines(&self, template: &Template) -> String {
        let once = template
            .once
            .replace("<retryable>", &self.retryable())
            .replace("<final>", &self.numbers(false));
        let each = self.rows.iter().map(|row| row.line(template.each));
        once + &each.collect::<String>()
    }
}

impl Row {
    fn of(code: &Value, examples: &BTreeMap<u64, &str>) -> Result<Self> {
        let value = code["error"].as_u64().and_then(|value| u16::try_from(value).ok());
        let number = value.context("x-error-codes: `error` of a row is no status code")?;
        let status = StatusCode::from_u16(number).ok();
        let reason = status.as_ref().and_then(StatusCode::canonical_reason);
        let reason = reason.with_context(|| {
            format!("x-error-codes: {number} is no status code with a name in RFC 9110")
        })?;
        let lacks = |member: &str| format!("x-error-codes: the row of {number} lacks `{member}`");
        let meaning = code["meaning"].as_str().with_context(|| lacks("meaning"))?;
        let is_retryable = code["retryable"].as_bool().with_context(|| lacks("retryable"))?;
        let example = examples.get(&number.into()).with_context(|| {
            format!(
                "no response of the document has an example of `error` {number}: \
                 server/api/src/document.rs adds one for each row of error_code.rs"
            )
        })?;
        // The crate has two names from an older RFC.
        let name = reason.replace("Payload", "Content").replace("Entity", "Content");
        Ok(Self {
            number,
            name: name.replace([' ', '-'], ""),
            meaning: meaning.to_owned(),
            is_retryable,
            example: (*example).to_owned(),
        })
    }

    /// A line of a template, in which texts replace the placeholders.
    fn line(&self, template: &str) -> String {
        let Self { number, name, meaning, is_retryable, example } = self;
        let texts = [
            ("<error>", number.to_string()),
            ("<is retryable>", is_retryable.to_string()),
            ("<yes if retryable>", if *is_retryable { "yes" } else { "no" }.to_owned()),
            ("<name>", name.clone()),
            ("<meaning>", meaning.clone()),
            ("<quoted meaning>", format!("{meaning:?}")),
            ("<example>", example.clone()),
        ];
        let mut line = template.to_owned();
        for (placeholder, text) in texts {
            line = line.replace(placeholder, &text);
        }
        line
    }
}

/// The messages of the examples of a refusal, by the value of `error`, in the responses of all
/// operations.
fn examples(document: &Value) -> BTreeMap<u64, &str> {
    let mut found = BTreeMap::new();
    for operation in members(&document["paths"]).flat_map(members) {
        let contents = members(&operation["responses"]).map(|response| &response["content"]);
        let examples = contents.flat_map(members).map(|content| &content["examples"]);
        for example in examples.flat_map(members).map(|example| &example["value"]) {
            if let (Some(error), Some(message)) =
                (example["error"].as_u64(), example["message"].as_str())
            {
                found.entry(error).or_insert(message);
            }
        }
    }
    found
}

/// The values of the members of an object; none of anything else.
fn members(object: &Value) -> impl Iterator<Item = &Value> {
    object.as_object().into_iter().flat_map(Map::values)
}

/// The text of this file, with these lines between its markers.
pub fn between(markers: [&str; 2], path: &str, text: &str, lines: &str) -> Result<String> {
    let [start, end] = markers;
    let parts = || {
        let (before, rest) = text.split_once(start)?;
        let (marker, rest) = rest.split_once('\n')?;
        let (old, after) = rest.split_once(end)?;
        // The start of the comment is in the line of the marker.
        let comment = old.rfind('\n').map_or(0, |last| last + 1);
        (!before.contains(end) && !after.contains(start) && !after.contains(end))
            .then(|| format!("{before}{start}{marker}\n{lines}{}{end}{after}", &old[comment..]))
    };
    parts().with_context(|| {
        format!("{path} needs one line with `{start}` and below it one with `{end}`, as comments")
    })
}
