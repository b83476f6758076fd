//! The program, as a consumer runs it: what it prints, and its exit status.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::mutations::{document, judged};
use crate::rows::{apply, rows};

/// What the program prints on both streams, and its exit status.
pub fn run(folder: &Path, arguments: &[&str]) -> (String, i32) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_openapi-compat"));
    let command = command.args(arguments).current_dir(folder).stdin(Stdio::null());
    let output = command.output().expect("the program starts");
    let said = [output.stdout, output.stderr].concat();
    let status = output.status.code().expect("no signal ends it");
    (String::from_utf8(said).expect("the output is UTF-8"), status)
}

/// A folder with these files.
pub fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().expect("a folder");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("the folder takes files");
    }
    folder
}

/// What the program says about two texts.
pub fn compared(old: &str, new: &str, flags: &[&str]) -> (String, i32) {
    let folder = folder(&[("old", old), ("new", new)]);
    run(folder.path(), &[&["old", "new"], flags].concat())
}

fn edited(edits: &[&str], flags: &[&str]) -> (String, i32) {
    let mut new = document();
    for edit in edits {
        apply(edit, &mut new);
    }
    compared(&document().to_string(), &new.to_string(), flags)
}

/// The lines of an output without the entry for the file of accepted changes.
fn lines(said: &str) -> Vec<&str> {
    said.lines().take_while(|line| !line.starts_with("to accept")).collect()
}

#[test]
fn text_has_a_line_for_each_change_then_each_reason_once() {
    let edits =
        [r#"set post/summary "New""#, "set Book/properties/new {}", "remove post/operationId"];
    let edits = [&edits[..], &["remove Book/properties/name"]].concat();
    let (said, status) = edited(&edits, &[]);
    let expected = "\
20240502.0 of new, since 20240502.0 of old: what changed breaks a client that runs
breaks wire    GET /books +1  Book.name  removed: string, required  (removed)
breaks source  POST /books  operationId  removed: create  (operation-id)
additive       GET /books +1  Book.new  added: {}  (added)
words only     no operation  summary  changed: 1 text  (text)
  added: objects and headers are open, and a client ignores a new one
  operation-id: generated functions are named after it
  removed: a client waits for it
  text: it is text for people
what changed breaks a client that runs";
    assert_eq!((&lines(&said).join("\n")[..], status), (expected, 1));
    let (said, status) = edited(&[], &[]);
    let expected = "20240502.0 of new, since 20240502.0 of old: nothing changed\n";
    assert_eq!((&said[..], status), (expected, 0));
}

/// A change that each operation or each status has is one line.
#[test]
fn one_change_of_many_operations_and_statuses_is_one_line() {
    let paths = |member: &str, count: usize| {
        let schema = json!({ "type": "object", "properties": { member: {} } });
        let content = json!({ "application/json": { "schema": schema } });
        let body = json!({ "description": "", "content": content });
        let operation = json!({ "responses": { "200": body, "400": body } });
        let paths: serde_json::Map<String, Value> =
            (0..count).map(|at| (format!("/{at}"), json!({ "get": operation }))).collect();
        let mut all = document();
        all["paths"] = Value::Object(paths);
        all.to_string()
    };
    let (said, status) = compared(&paths("a", 9), &paths("b", 9), &[]);
    let removed = "breaks source  GET /0 +8  200.a +17  removed: {}  (optional-removed)";
    assert_eq!((lines(&said)[1], status), (removed, 1), "{said}");
    // Types that no operation has alone may be one line, too.
    let (said, _) = edited(&["set Both/x-a true", "set Unused/x-a true"], &[]);
    assert_eq!(
        lines(&said)[1],
        "additive       no operation  Both x-a +1  added: true  (extension)"
    );
}

/// The error type of each status is another one: a person counts one change.
#[test]
fn one_type_in_the_place_of_another_at_many_places_is_one_line() {
    let edits = [
        r#"set New {"type": "object", "required": ["error", "message"], "properties": {
            "error": {"type": "integer"}, "message": {"type": "string"}}}"#,
        r##"set /components/responses/Error/content/application~1json/schema/$ref
            "#/components/schemas/New""##,
        r##"set post/responses/409 {"description": "It failed", "content": {"application/json":
            {"schema": {"$ref": "#/components/schemas/New"}}}}"##,
    ];
    let edits = edits.map(|edit| edit.replace("\n            ", " "));
    let (said, _) = edited(&edits.each_ref().map(String::as_str), &[]);
    assert!(
        said.contains("\nbreaks source  GET /books +2  responses Error +1  Error → New  "),
        "{said}"
    );
    assert_eq!(said.matches("(type-name)").count(), 1, "{said}");
}

#[test]
fn place_is_told_in_words() {
    for (edit, words) in [
        (r#"set Shape/oneOf/0/properties/radius/format "double""#, "Shape oneOf 0.radius type"),
        ("remove Both/allOf/0", "Both"),
        ("remove get/parameters/2", "query sort"),
        ("set get/parameters/0/schema/maximum 50", "query limit maximum"),
        ("remove post/responses/200/headers/X-Id", "200 headers X-Id"),
        (
            r#"set post/requestBody/content/text~1plain/schema/type "integer""#,
            "request text/plain type",
        ),
        ("remove get/responses/200/content/application~1json/schema/properties/next", "200.next"),
        (
            r#"set NewBook/properties/labels/additionalProperties/type "integer""#,
            "NewBook.labels.* type",
        ),
        (r#"set Shape/oneOf/2/properties/sides/items/type "string""#, "Shape oneOf 2.sides[] type"),
        ("set post/responses/201 {\"description\": \"\"}", "201"),
    ] {
        let (said, _) = edited(&[edit], &[]);
        assert!(lines(&said)[1].contains(&format!("  {words}  ")), "{words}: {said}");
    }
}

#[test]
fn reason_is_that_of_a_request_or_of_a_response_or_both() {
    for (edit, reason) in [
        ("remove NewBook/properties/light", "optional-removed: a client may send it\n"),
        (
            "remove Book/properties/tag",
            "optional-removed: a response could lack it before, and code may name it\n",
        ),
        (
            "remove Size/enum/2",
            "values-removed: a request with one of them may be refused; code may name them\n",
        ),
        ("remove post", "operation-removed: a client that uses the operation fails\n"),
    ] {
        let (said, _) = edited(&[edit], &[]);
        assert!(said.contains(reason), "{said}");
    }
}

#[test]
fn values_are_told_as_a_person_reads_them() {
    for (edit, told) in [
        (r#"set Book/properties/age/type "string""#, "integer (int32) → string (int32)"),
        ("remove Book/properties/age/type", "  removed: integer (int32)"),
        (r#"set post/responses/201 {"description": ""}"#, "  added: no content"),
        (
            r##"set post/responses/403 {"$ref": "#/components/responses/Error"}"##,
            "  added: application/json",
        ),
        (r#"set NewBook/required/2 "note""#, "  NewBook.note  optional → required"),
        (r#"set Book/required/2 "gone""#, "  Book properties  gone optional → gone required"),
        ("remove Book/properties/strict", "  removed: object {a}  "),
        ("remove Book/properties/labels", "  removed: object  "),
        (
            "remove get/responses/200/content/application~1json/schema/properties/items",
            "  removed: array of Book, required  ",
        ),
        ("remove Event/anyOf/2", "  removed: object {died}  "),
        ("remove Error/properties/error/x-error-codes/2", "  removed: 503  "),
        (
            "set Error/properties/error/x-error-codes/2/retryable false",
            "  503, retryable: true → 503, retryable: false  ",
        ),
        (
            r#"set NewBook/properties/size {"oneOf": [{"type": "integer"}, {"type": "boolean"}]}"#,
            "string \"large\", \"middle\", \"small\" → one of ",
        ),
        ("set /security/1 {\"key\": []}", "  added: header x-key apiKey  "),
    ] {
        let (said, _) = edited(&[edit], &[]);
        assert!(said.contains(told), "{told}: {said}");
    }
}

#[test]
fn long_values_are_told_by_their_difference() {
    let long = |middle: &str| {
        let pattern = format!("{}{middle}{}", "a".repeat(110), "b".repeat(110));
        format!(r#"set NewBook/properties/name/pattern "{pattern}""#)
    };
    let mut texts = [document(), document()];
    apply(&long("x"), &mut texts[0]);
    apply(&long("yz"), &mut texts[1]);
    let (said, _) = compared(&texts[0].to_string(), &texts[1].to_string(), &[]);
    let told = "  …aaaaaaaaxbbbbbbbb… → …aaaaaaaayzbbbbbbbb…  (limit)";
    assert!(said.contains(told), "{said}");
    // What reads alike is told whole.
    let note = |required: &str| {
        let not = json!({ "type": "object", "required": [required], "properties": { "a": {} } });
        format!("set NewBook/properties/note {}", json!({ "not": not }))
    };
    let mut texts = [document(), document()];
    apply(&note("a"), &mut texts[0]);
    apply(&note("b"), &mut texts[1]);
    let (said, _) = compared(&texts[0].to_string(), &texts[1].to_string(), &[]);
    let told = "  …ired\":[\"a\"],\"type… → …ired\":[\"b\"],\"type…  (limit)";
    assert!(said.contains(told), "{said}");
    // Of what differs in all, the beginning is shown.
    let (said, _) = edited(&[&long("x")], &[]);
    assert!(said.contains(&format!("  ^[a-z]+$ → {}…  ", "a".repeat(39))), "{said}");
    let (said, _) =
        edited(&[&format!("set Book/{} {{}}", "properties/".to_owned() + &"n".repeat(300))], &[]);
    assert!(lines(&said)[1].chars().count() < 130, "{said}");
}

#[test]
fn exit_status_is_that_of_the_lightest_class_that_fails() {
    let edits = ["remove post", "remove post/operationId", "set /x-a 1", r#"set /info/title "A""#];
    for (flags, statuses) in [
        (&[][..], [1, 1, 0, 0]),
        (&["--fail-on", "wire"], [1, 0, 0, 0]),
        (&["--fail-on", "source"], [1, 1, 0, 0]),
        (&["--fail-on", "additive"], [1, 1, 1, 0]),
        (&["--fail-on", "words"], [1, 1, 1, 1]),
    ] {
        assert_eq!(edits.map(|edit| edited(&[edit], flags).1), statuses, "{flags:?}");
        assert_eq!(edited(&[], flags).1, 0);
    }
    let (said, _) = edited(&["remove post/operationId"], &[]);
    assert!(lines(&said).last().expect("a line").ends_with("a client generated again"), "{said}");
    let (said, _) = edited(&["set /x-a 1"], &["--fail-on", "additive"]);
    let conclusion =
        "nothing that changed breaks a client, but it fails because of `--fail-on additive`";
    assert_eq!(lines(&said).last(), Some(&conclusion), "{said}");
    let (said, _) = edited(&["set /x-a 1"], &["--fail-on", "additive", "--format", "github"]);
    assert!(
        said.contains("\n::error file=old::nothing that changed breaks a client, but"),
        "{said}"
    );
}

#[test]
fn json_has_whole_values_and_every_place() {
    let edit = "remove post/responses/200/headers/X-Id";
    let (said, status) = edited(&[edit], &["--format", "json"]);
    let report: Value = serde_json::from_str(&said).expect("it prints JSON");
    let place = "#/paths/~1books/post/responses/200/headers/X-Id";
    let expected = json!({
        "class": "wire", "kind": "removed", "reason": "a client waits for it",
        "place": place, "places": [place],
        "old": "{\"type\":\"string\"}, required", "new": null,
        "change": "removed: string, required",
        "operations": ["POST /books"], "accepted": null,
    });
    assert_eq!(report["changes"], json!([expected]));
    assert_eq!((&report["status"], status), (&json!(1), 1));
    assert_eq!(report["pinned"], json!({ "name": "old", "version": "20240502.0" }));
    assert_eq!(report["class"], "wire");
}

#[test]
fn places_are_pointers_that_lead_to_something_in_one_of_the_documents() {
    for row in rows(include_str!("mutations.txt")) {
        let [old, new] = row.documents(&document());
        for change in judged(&old, &new).changes {
            for place in &change.places {
                let pointer = place.strip_prefix('#').expect("a pointer in a URL");
                let leads = |json: &Value| json.pointer(pointer).is_some();
                assert!(leads(&old) || leads(&new), "{place}: {}", row.edits);
            }
        }
    }
}

/// GitHub shows ten of a step.
#[test]
fn annotations_are_ten_at_most_and_the_last_one_says_how_many_are_left() {
    let mut new = document();
    for name in ["Book", "NewBook"] {
        new["components"]["schemas"][name]["properties"] = json!({});
    }
    let all = document().to_string();
    let (said, _) = compared(&all, &new.to_string(), &["--format", "github", "--fail-on", "wire"]);
    let lines: Vec<&str> = said.lines().filter(|line| line.starts_with("::")).collect();
    assert_eq!(lines.len(), 10, "{said}");
    assert!(lines[0].starts_with("::error file=old,line=1::breaks wire "), "{said}");
    let last = "::error file=old::6 more changes break a client: the log has them all";
    assert_eq!(lines[9], last, "{said}");
    let ten = ["set Book/properties {}", "remove post/operationId", "remove get/operationId"];
    let (said, _) = edited(&ten, &["--format", "github"]);
    assert_eq!(said.matches("::breaks ").count(), 10, "{said}");
    let (said, _) =
        edited(&["remove post/operationId"], &["--format", "github", "--fail-on", "wire"]);
    assert!(said.contains("\n::warning file=old,line=1::breaks source "), "{said}");
}

#[test]
fn annotation_names_the_line_of_the_older_document_in_json_and_in_yaml() {
    let json = serde_json::to_string_pretty(&document()).expect("JSON");
    let yaml = "\
openapi: 3.0.3
info: {title: t, version: '1'}
paths:
  /p:
    get:
      responses:
        200:
          description: d
          content:
            application/json:
              schema:
                type: string
";
    let other = json.replace("\"operationId\": \"create\"", "\"operationId\": \"add\"");
    let line = json.lines().position(|line| line.contains("\"create\"")).expect("it is there") + 1;
    let number = yaml.replace("type: string", "type: integer");
    for (old, new, line) in [(&json[..], &other, line), (yaml, &number, 12)] {
        let (said, status) = compared(old, new, &["--format", "github"]);
        assert!(said.contains(&format!("\n::error file=old,line={line}::breaks ")), "{said}");
        assert_eq!(status, 1);
    }
}

/// The same document in both forms, and what is text in YAML 1.2.
#[test]
fn yaml_is_read_as_json_is() {
    let yaml = "\
# A comment
openapi: 3.0.3
info: {title: t, version: 1.0}
x-all: [no, on, 2020-01-01, 0x10, 1_0, ~, true, 9223372036854775807]
x-same: &same {a: 1}
x-too: *same
x-text: >-
  a
  b
paths: {/p: {get: {responses: {200: {description: d}}}}}
";
    let json = json!({
        "openapi": "3.0.3", "info": { "title": "t", "version": "1.0" }, "x-all": ["no", "on",
        "2020-01-01", 16, "1_0", null, true, 9_223_372_036_854_775_807_u64],
        "x-same": { "a": 1 }, "x-too": { "a": 1 },
        "paths": { "/p": { "get": { "responses": { "200": { "description": "d" } } } } },
        "x-text": "a b",
    });
    let (said, status) = compared(yaml, &json.to_string(), &[]);
    assert!(said.contains("nothing changed\n") && status == 0, "{said}");
}

/// A runner of GitHub runs a command `::` at the start of a line, and `##[` anywhere in it.
#[test]
fn names_and_values_of_documents_are_escaped() {
    let name = "a\n::error::x\r\u{1b}[31m\u{202e}##[add-mask]y 😀";
    let mut hostile = document();
    hostile["components"]["schemas"]["Book"]["properties"][name] = json!({ "default": name });
    for (old, new, expected) in [(&hostile, &document(), 1), (&document(), &hostile, 0)] {
        let (said, status) = compared(&old.to_string(), &new.to_string(), &[]);
        assert!(said.contains(r"  Book.a\n::error::x\r\u{"), "{said}");
        assert!(said.contains(r#"{"default":"a\n::error::x\r\u001b[31m\u{202e}#…"#), "{said}");
        assert!(lines(&said).len() == 4 && status == expected, "{said}");
        assert!(!said.contains(['\r', '\u{1b}', '\u{202e}']) && !said.contains("##["), "{said}");
    }
}

#[test]
fn accepted_changes_have_no_class_and_an_entry_without_a_change_is_a_note() {
    let edit = "remove Book/properties/tag";
    let entry = |place: &str, reason: &str| {
        let change = "removed: string";
        format!("[[change]]\nplace = {place:?}\nchange = {change:?}\n{reason}\ndate = 2026-11-23\n")
    };
    let place = "#/components/schemas/Book/properties/tag";
    let both = [entry(place, "reason = 'why'"), entry("#/a", "reason = 'why'")].concat();
    let mut new = document();
    apply(edit, &mut new);
    let files = |accepted: &str| {
        let texts = [document().to_string(), new.to_string()];
        folder(&[("old", &texts[0]), ("new", &texts[1]), ("accepted.toml", accepted)])
    };
    let arguments = ["old", "new", "--accepted", "accepted.toml"];
    let (said, status) = run(files(&both).path(), &arguments);
    let line =
        "accepted       GET /books +1  Book.tag  removed: string  (breaks source; 2026-11-23: why)";
    assert!(said.contains(line), "{said}");
    assert!(said.contains("\nnote: nothing changes any more as accepted: #/a  removed"), "{said}");
    assert!(said.ends_with("nothing changed but what is accepted\n") && status == 0, "{said}");
    for (entry, says) in [
        (entry(place, ""), "accepted.toml, line 1: missing field `reason`"),
        (
            entry(place, "reason = ' '"),
            "accepted.toml: #/components/schemas/Book/properties/tag is ",
        ),
    ] {
        let (said, status) = run(files(&entry).path(), &arguments);
        assert!(said.contains(says) && said.lines().count() == 1 && status == 2, "{said}");
    }
    // What is offered accepts the change, once it has a reason.
    for name in ["tag", "a\n\u{202e}##[x]\\\"😀"] {
        let old = {
            let mut old = document();
            old["components"]["schemas"]["Book"]["properties"][name] = json!({ "type": "string" });
            old.to_string()
        };
        let (said, _) = compared(&old, &new.to_string(), &[]);
        let (_, offer) = said.split_once("to accepted-changes.toml:\n").expect("an offer");
        let offer = offer.replace("reason = \"\"", "reason = \"why\"");
        let folder = folder(&[("old", &old), ("new", &new.to_string()), ("accepted.toml", &offer)]);
        let (said, _) = run(folder.path(), &arguments);
        assert!(said.contains("\naccepted  ") && !said.contains("\nnote: "), "{offer}{said}");
    }
    let (said, status) = edited(&[edit], &["--accepted", "nowhere.toml"]);
    assert!(said.contains("cannot read nowhere.toml") && status == 2, "{said}");
}

#[test]
fn output_that_is_full_or_closed_is_status_2_and_no_panic() {
    let text = document().to_string();
    let folder = folder(&[("old", &text)]);
    let full = File::options().write(true).open("/dev/full").expect("Linux has it");
    let mut command = Command::new(env!("CARGO_BIN_EXE_openapi-compat"));
    command.args(["old", "old"]).current_dir(folder.path());
    let output = command.stdout(full).output().expect("the program starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.starts_with("openapi-compat: the result cannot be printed: No space"), "{said}");

    let mut command = Command::new("sh");
    let closed = format!("{} old old >&- 2>&-", env!("CARGO_BIN_EXE_openapi-compat"));
    let output = command.args(["-c", &closed]).current_dir(folder.path()).status();
    let status = output.expect("a shell").code();
    assert!(matches!(status, Some(0 | 2)), "{status:?}");
}
