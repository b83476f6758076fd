//! The tests that every service on `groundwork` runs, and the generator of its client.
//!
//! The package of the service has them as a test, for example `tests/suite.rs`:
//!
//! ```no_run
//! use groundwork_testing::Suite;
//!
//! fn suite() -> Suite {
//!     # macro_rules! env { ($name:literal) => { "book-shelf" } }
//!     Suite::new(env!("CARGO_BIN_EXE_book-shelf"))
//! }
//!
//! #[test]
//! fn document_and_client_are_up_to_date() {
//!     suite().assert_up_to_date("openapi.json", "client/src/generated.rs");
//! }
//!
//! #[test]
//! fn answers_match_the_document() {
//!     suite().assert_answers_match_the_document();
//! }
//!
//! #[test]
//! fn credentials_come_first() {
//!     suite().assert_credentials_come_first();
//! }
//!
//! #[test]
//! fn sigkill_loses_nothing_that_was_answered() {
//!     suite().assert_sigkill_loses_nothing();
//! }
//! ```
//!
//! `EXPECTORATE=overwrite cargo test --test suite` writes the document and the client. The tests
//! run the program on new stores of SQLite. The example of a create is the command that the program
//! prints for a new store; its body has the member `id`.

mod client;
mod http;
mod server;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;

use openapiv3::OpenAPI;
use serde_json::Value;

use crate::server::run;

pub use crate::client::{Part, generate};
pub use crate::http::{Connection, JSON, Response, bearer, head};
pub use crate::server::{Api, Launched, Server};

/// The number of clients that create at the same time.
const CLIENTS: usize = 8;

/// How many creates are answered before the server is killed.
const CREATES: usize = 400;

/// The tests of a service.
pub struct Suite {
    program: PathBuf,
}

impl Suite {
    /// Creates the tests of the service with this program.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into() }
    }

    /// Starts the service with these flags, on a new store.
    ///
    /// # Panics
    ///
    /// Panics if the service does not start.
    pub fn serve(&self, flags: &[&str]) -> Server {
        Server::start(&self.program, flags)
    }

    /// Returns the document as text.
    ///
    /// # Panics
    ///
    /// Panics if the program does not print a document, or the document allows null.
    pub fn document(&self) -> String {
        let document = run(&self.program, Path::new("."), &["openapi"]);
        assert!(
            !document.contains("\"nullable\": true"),
            "the document allows null: an `Option` takes the attributes of `breed` in groundwork's \
             tests/goose-farm/src/types.rs"
        );
        document
    }

    /// Asserts that these files are the document and the client that is generated from it. With
    /// `EXPECTORATE=overwrite` in the environment, writes the files instead. Returns the document.
    ///
    /// # Panics
    ///
    /// Panics with a diff if a file differs.
    pub fn assert_up_to_date(
        &self,
        document: impl AsRef<Path>,
        client: impl AsRef<Path>,
    ) -> OpenAPI {
        let text = self.document();
        let parsed: OpenAPI = serde_json::from_str(&text).expect("the document is OpenAPI 3.0");
        let generated = generate(Part::Client, &parsed);
        expectorate::assert_contents(document, &text);
        expectorate::assert_contents(client, &generated);
        parsed
    }

    /// Asserts that a create gets a 200, and its repeat the same one, and that the refusals 400,
    /// 401, 409, 413 and 415 are as the document declares, each with the message of its example.
    /// The example of a create has a string member that accepts other values. A value above a
    /// `maxLength` or a `maximum` is refused with 400.
    ///
    /// # Panics
    ///
    /// Panics if an answer differs.
    pub fn assert_answers_match_the_document(&self) {
        let server = self.serve(&[]);
        let api = &server.api;
        let document: Value = serde_json::from_str(&self.document()).expect("JSON");
        let created = api.create(1).expect("an answer");
        assert_eq!(created.status, 200, "{created:?}");
        assert!(created.header("x-request-id").is_some(), "{created:?}");
        assert_eq!(api.create(1).expect("an answer").body, created.body, "a repeat");

        let operation = &document["paths"][&api.path]["post"];
        let other_token = self.other_token();
        let conflict = api
            .other_bodies(1)
            .filter_map(|body| api.post(&api.token, JSON, &body))
            .find(|answer| answer.json()["error"] != 400);
        let conflict =
            conflict.expect("the example has a string member that accepts another value");
        // Refused by its declared length. A client that goes on sending may lose the answer.
        let too_large = format!("{JSON}Content-Length: 65537\r\n");
        for (error, refused) in [
            (400, api.post(&api.token, JSON, r#"{"id":1}"#)),
            (401, api.post(&other_token, JSON, &api.body(1))),
            (409, Some(conflict)),
            (413, api.send(&format!("POST {}", api.path), &api.token, &too_large, "")),
            (415, api.post(&api.token, "", &api.body(1))),
        ] {
            let refused = refused.expect("an answer");
            let (status, refusal) = declared_refusal(&document, operation, error);
            let examples = &refusal["content"]["application/json"]["examples"];
            assert_eq!(refused.status, status, "{refused:?}");
            assert_eq!(refused.json(), examples[error.to_string()]["value"], "{error}");
            assert_eq!(refused.header("retry-after"), None, "the same request is refused again");
        }
        let body = &operation["requestBody"]["content"]["application/json"]["schema"];
        let members = resolved(&document, body)["properties"].as_object().expect("members");
        for (name, schema) in members {
            let Some(value) = value_above(resolved(&document, schema)) else { continue };
            let refused = api.post(&api.token, JSON, &api.body_with(2, name, value));
            let refused = refused.expect("an answer");
            let advice = "publishes a bound that the service does not enforce: use `try_from`";
            assert_eq!(refused.json()["error"], 400, "`{name}` {advice}: {refused:?}");
        }
    }

    /// Asserts that every operation of the document refuses a request without an accepted token
    /// with `error` 401, before it looks at its parameters or asks for its body.
    ///
    /// # Panics
    ///
    /// Panics if an answer differs.
    pub fn assert_credentials_come_first(&self) {
        let server = self.serve(&[]);
        let api = &server.api;
        let other_token = self.other_token();
        let document: Value = serde_json::from_str(&self.document()).expect("JSON");
        for (path, operations) in document["paths"].as_object().expect("paths") {
            for (method, operation) in operations.as_object().expect("operations") {
                let (status, _) = declared_refusal(&document, operation, 401);
                for token in ["", &other_token] {
                    let line = format!("{} {path}", method.to_uppercase());
                    // A name in braces is not an id.
                    let line = line.replace(['{', '}'], "-");
                    let headers = "Expect: 100-continue\r\nContent-Length: 10\r\n";
                    let refused = api.send(&line, token, headers, "");
                    let refused = refused.expect("an answer instead of `100 Continue`");
                    assert_eq!(refused.status, status, "{line}: {refused:?}");
                    assert_eq!(refused.json()["error"], 401, "{line}: {refused:?}");
                    let challenge = refused.header("www-authenticate").expect("a challenge");
                    assert!(challenge.starts_with("Bearer realm="), "{challenge}");
                }
            }
        }
    }

    /// Asserts that every create that was answered with 200 is in the store after SIGKILL, with the
    /// text of the answer, and that `check` calls the store sound.
    ///
    /// # Panics
    ///
    /// Panics if a row is missing or differs, or if `check` fails.
    pub fn assert_sigkill_loses_nothing(&self) {
        let mut server = self.serve(&[]);
        let (answered, answers) = mpsc::channel();
        let api = &server.api;
        let answers: Vec<_> = thread::scope(|scope| {
            for ids in (1..).map(|first| (first..).step_by(CLIENTS)).take(CLIENTS) {
                let answered = answered.clone();
                scope.spawn(move || {
                    // Without an answer, the row may be stored or not.
                    let answers = ids.map_while(|id| Some((id, api.create(id)?)));
                    answers.for_each(|answer| answered.send(answer).expect("the test is running"));
                });
            }
            drop(answered);
            let mut before: Vec<_> = answers.iter().take(CREATES).collect();
            server.launched.kill();
            before.extend(answers);
            before
        });
        // A row that the start loses would be created again by the repeat.
        server.restart();
        server.run(&["check"]);
        let exported = server.run(&["export"]);
        let mut rows: BTreeMap<_, _> = exported.lines().map(id_and_members).collect();
        for (id, created) in answers {
            assert_eq!(created.status, 200, "{created:?}");
            assert_eq!(rows.remove(&id), Some(created.json()), "the row {id}");
            assert_eq!(server.api.create(id).expect("an answer").body, created.body, "a repeat");
        }
    }

    /// Returns a well-formed token of another store.
    fn other_token(&self) -> String {
        self.serve(&[]).api.token.clone()
    }
}

/// Asserts that these are the lines between two markers of this name in a checked-in file, each in
/// a comment: `NAME: generated from …` and `end of NAME`. With `EXPECTORATE=overwrite` in the
/// environment, writes the lines instead.
///
/// # Panics
///
/// Panics with a diff if the lines differ, or if there are no such markers.
pub fn assert_between_markers(path: impl AsRef<Path>, name: &str, lines: &str) {
    let path = path.as_ref();
    let [start, end] = [format!("{name}: generated from"), format!("end of {name}")];
    let text = fs::read_to_string(path).expect("a checked-in file");
    let parts = || {
        let (before, rest) = text.split_once(&start)?;
        let (marker, rest) = rest.split_once('\n')?;
        let (old, after) = rest.split_once(&end)?;
        // Keep the start of the comment, which is in the line of the marker.
        let comment = old.rfind('\n').map_or(0, |last| last + 1);
        Some(format!("{before}{start}{marker}\n{lines}{}{end}{after}", &old[comment..]))
    };
    let path = path.display();
    let expected = parts().unwrap_or_else(|| panic!("{path} has no `{start}` before `{end}`"));
    expectorate::assert_contents(path.to_string(), &expected);
}

/// Returns the status and the response that an operation of the document declares for a refusal
/// with this `error`: 400, or `4XX` or `5XX` with `error` as the status.
fn declared_refusal<'d>(document: &'d Value, operation: &'d Value, error: u16) -> (u16, &'d Value) {
    let responses = &operation["responses"];
    if let Some(refusal) = responses.get("400") {
        return (400, refusal);
    }
    let refusal = resolved(document, &responses[format!("{}XX", error / 100)]);
    assert!(refusal.is_object(), "the document declares the status of a refusal");
    (error, refusal)
}

/// Returns a value above the `maxLength` or the `maximum` of a schema, if it has one.
fn value_above(schema: &Value) -> Option<Value> {
    match schema["maxLength"].as_u64() {
        // A longer body would be refused because of its size.
        Some(most) if most >= 32 * 1024 => None,
        Some(most) => Some((0..=most).map(|_| 'a').collect::<String>().into()),
        None => Some(schema["maximum"].as_i64()?.checked_add(1)?.into()),
    }
}

/// Returns the component to which a value of the document refers, or else the value. A reference
/// with a description of its own is in `allOf`.
fn resolved<'d>(document: &'d Value, value: &'d Value) -> &'d Value {
    let reference = value.get("$ref").unwrap_or(&value["allOf"][0]["$ref"]);
    let path = reference.as_str().and_then(|reference| reference.strip_prefix('#'));
    path.and_then(|path| document.pointer(path)).unwrap_or(value)
}

/// Parses a line of `export`: the id, and the stored object.
fn id_and_members(line: &str) -> (i64, Value) {
    let mut row: Value = serde_json::from_str(line).expect("each line is JSON");
    let id = row.as_object_mut().and_then(|row| row.remove("id")?.as_i64());
    (id.expect("each line has an id"), row)
}
