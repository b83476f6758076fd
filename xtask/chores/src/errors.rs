//! The table of errors of the document, and what is generated from it: lines of the client, of
//! documents and of recipes, between two markers.

use anyhow::{Context, Result};
use http::StatusCode;
use serde_json::Value;

/// The markers: the comment around them is that of the language.
pub const MARKERS: [&str; 2] = ["errors: generated from the contract", "end of errors"];

/// The table in Markdown: its head, and its row.
pub const TABLE: [&str; 2] = [
    "| `error` | when | an example of `message` | send the same plant again |\n\
     | --- | --- | --- | --- |\n",
    "| {error} | {meaning} | {example} | {again} |\n",
];

const PYTHON: &str = "MAY_PASS = {{retryable}}  # values of `error`, not HTTP statuses\n\
                      FINAL = {{final}}\n";

/// The files that have such lines, and what stands between the markers: once, and for each value.
pub const PLACES: [(&str, [&str; 2]); 6] = [
    ("server/WIRE.md", TABLE),
    ("client/src/error_code.rs", ["", "    {name}, {error}, {is_retryable}, {quoted};\n"]),
    (
        "client/README.md",
        [
            "| `error` | `ErrorCode` | `is_retryable` |\n| --- | --- | --- |\n",
            "| {error} | `{name}` | {again} |\n",
        ],
    ),
    (
        "tests/conformance/recipes/with_fetch.ts",
        [
            "const MAY_PASS = [{retryable}]; // values of `error`, not HTTP statuses\n\
             const FINAL = [{final}];\n",
            "",
        ],
    ),
    ("tests/conformance/recipes/with_httpx.py", [PYTHON, ""]),
    ("tests/conformance/recipes/with_requests.py", [PYTHON, ""]),
];

/// What documents and programs say about the values of `error`.
pub struct Errors {
    /// For each value, texts by the placeholders that they replace.
    values: Vec<[(&'static str, String); 7]>,
}

impl Errors {
    /// From `x-error-codes` and the examples of the 400.
    pub fn of(document: &Value) -> Result<Self> {
        let codes = document.pointer("/components/schemas/Error/properties/error/x-error-codes");
        let codes =
            codes.and_then(Value::as_array).context("`Error.error` has no x-error-codes")?;
        let refusal = &document["paths"]["/plants"]["post"]["responses"]["400"];
        let examples = &refusal["content"]["application/json"]["examples"];
        let texts = |code: &Value| {
            let number = u16::try_from(code["error"].as_u64()?).ok()?;
            let (meaning, is_retryable) = (code["meaning"].as_str()?, code["retryable"].as_bool()?);
            let example = examples[number.to_string()]["value"]["message"].as_str()?;
            // The name in RFC 9110, as Rust calls it. The crate has two of them from an older RFC.
            let name =
                StatusCode::from_u16(number).ok()?.canonical_reason()?.replace([' ', '-'], "");
            let name = name.replace("Payload", "Content").replace("Entity", "Content");
            Some([
                ("{error}", number.to_string()),
                ("{is_retryable}", is_retryable.to_string()),
                ("{again}", if is_retryable { "yes" } else { "no" }.to_owned()),
                ("{name}", name),
                ("{meaning}", meaning.to_owned()),
                ("{quoted}", format!("{meaning:?}")),
                ("{example}", example.to_owned()),
            ])
        };
        let texts =
            |code| texts(code).with_context(|| format!("{code} is no row, or has no example"));
        Ok(Self { values: codes.iter().map(texts).collect::<Result<_>>()? })
    }

    /// The values after which the same plant may be sent again.
    #[must_use]
    pub fn retryable(&self) -> String {
        self.numbers("true")
    }

    /// The values whose `{is_retryable}` is this text.
    fn numbers(&self, is_retryable: &str) -> String {
        let values = self.values.iter().filter(|texts| texts[1].1 == is_retryable);
        values.map(|texts| &texts[0].1[..]).collect::<Vec<_>>().join(", ")
    }

    /// The lines of a template: its first text once, and its second one for each value.
    #[must_use]
    pub fn lines(&self, [once, each]: [&str; 2]) -> String {
        let line = |texts: &[(&str, String); 7]| {
            texts.iter().fold(each.to_owned(), |line, (name, text)| line.replace(name, text))
        };
        let once = once.replace("{retryable}", &self.retryable());
        let once = once.replace("{final}", &self.numbers("false"));
        once + &self.values.iter().map(line).collect::<String>()
    }
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
