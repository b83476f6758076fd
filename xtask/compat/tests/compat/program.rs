//! The program, as a consumer runs it: what it prints, and its exit status.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::mutations::document;
use crate::rows::apply;

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

#[test]
fn text_has_the_conclusion_first_and_last_and_the_severest_change_first() {
    let edits =
        [r#"set post/summary "New""#, "set Plant/properties/new {}", "remove post/operationId"];
    let edits = [&edits[..], &["remove Plant/properties/name"]].concat();
    let (said, status) = edited(&edits, &[]);
    let expected = "\
20240502.0 of new, since 20240502.0 of old: what changed breaks a client that runs
breaks wire    #/components/schemas/Plant/properties/name  removed: {\"maxLength\":80,\"pattern\":\"^[a-z]+$\",\"type\":\"string\"}, required  (removed: a client waits for it; GET /plants, POST /plants)
breaks source  #/paths/~1plants/post/operationId  removed: create  (operation-id: generated functions have its name; POST /plants)
additive       #/components/schemas/Plant/properties/new  added: {}  (added: objects and headers are open, and a client ignores a new one; GET /plants, POST /plants)
words only     #/paths/~1plants/post/summary  changed: 1 text  (text: it is text for people)
what changed breaks a client that runs
";
    assert_eq!((&said[..], status), (expected, 1));
    let (said, status) = edited(&[], &[]);
    let expected = "20240502.0 of new, since 20240502.0 of old: nothing changed\n";
    assert_eq!((&said[..], status), (expected, 0));
}

/// A change that each operation has is one entry, with five of them named.
#[test]
fn one_change_of_many_operations_is_one_entry_with_five_of_them_named() {
    let paths = |member: &str, count: usize| {
        let operation = json!({ "responses": { "200": { "description": "", "content": {
            "application/json": { "schema": { "type": "object", "properties": { member: {} } } } } } } });
        let paths: serde_json::Map<String, Value> =
            (0..count).map(|at| (format!("/{at}"), json!({ "get": operation }))).collect();
        let mut all = document();
        all["paths"] = Value::Object(paths);
        all.to_string()
    };
    let (said, status) = compared(&paths("a", 9), &paths("b", 9), &[]);
    let removed = said.lines().nth(1).expect("an entry");
    assert!(removed.starts_with("breaks source  #/paths/~10/get/responses/200/content/"), "{said}");
    assert!(removed.contains("/properties/a and 8 more places  removed: {}  ("), "{said}");
    assert!(removed.ends_with("; GET /0, GET /1, GET /2, GET /3, GET /4 and 4 more)"), "{said}");
    assert_eq!((said.lines().count(), status), (4, 1), "{said}");
    let (said, _) = compared(&paths("a", 5), &paths("b", 5), &[]);
    assert!(said.contains("; GET /0, GET /1, GET /2, GET /3, GET /4)"), "{said}");
    // Types that no operation has alone may be one entry, too.
    let (said, _) = edited(&["set Both/nullable true", "set Unused/nullable true"], &[]);
    let place =
        "breaks source  #/components/schemas/Both/nullable and 1 more place  added: true  (";
    assert!(said.lines().nth(1).expect("an entry").starts_with(place), "{said}");
}

#[test]
fn place_of_a_part_names_it_by_its_tag_its_type_or_what_it_requires() {
    for (edit, place) in [
        (
            r#"set Shape/oneOf/0/properties/radius/format "double""#,
            "Shape/oneOf/circle/properties/",
        ),
        (r#"set Event/anyOf/0/properties/grew/type "string""#, "Event/anyOf/grew/properties/grew/"),
        ("remove Both/allOf/0", "Both/allOf/Size"),
    ] {
        let (said, _) = edited(&[edit], &[]);
        assert!(said.contains(&format!("#/components/schemas/{place}")), "{said}");
    }
}

#[test]
fn reason_is_that_of_a_request_or_of_a_response_or_both() {
    for (edit, reason) in [
        ("remove NewPlant/properties/light", "(optional-removed: a client may send it; POST"),
        (
            "remove Plant/properties/tag",
            "(optional-removed: a response could lack it before, and code may name it; GET",
        ),
        (
            "remove Size/enum/2",
            "(values-removed: a request with one of them may be refused; code may name them; GET",
        ),
        ("remove post", "(operation-removed: a client that uses it fails; POST"),
    ] {
        let (said, _) = edited(&[edit], &[]);
        assert!(said.contains(reason), "{said}");
    }
}

#[test]
fn values_are_told_as_a_person_reads_them() {
    for (edit, told) in [
        (r#"set Plant/properties/age/type "string""#, "integer (int32) → string (int32)"),
        ("remove Plant/properties/age/type", "/type  removed: integer (int32)"),
        (r#"set post/responses/201 {"description": ""}"#, "/201  added: no content"),
        (
            r##"set post/responses/403 {"$ref": "#/components/responses/Error"}"##,
            "/403  added: application/json",
        ),
        (r#"set NewPlant/required/2 "note""#, "/note  optional → required"),
    ] {
        let (said, _) = edited(&[edit], &[]);
        assert!(said.contains(told), "{said}");
    }
}

#[test]
fn long_values_are_cut_and_told_apart_by_a_hash() {
    let long =
        |end: &str| format!(r#"set NewPlant/properties/name/pattern "{}{end}""#, "a".repeat(110));
    let said = ["x", "y"].map(|end| edited(&[&long(end)], &[]).0);
    assert!(said[0].contains(&format!("→ {}… (", "a".repeat(50))), "{}", said[0]);
    assert_ne!(said[0], said[1]);
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
    assert!(said.ends_with("a client generated again\n"), "{said}");
    let (said, _) = edited(&["set /x-a 1"], &["--fail-on", "additive"]);
    assert!(said.ends_with("a client, but it fails because of `--fail-on additive`\n"), "{said}");
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
    let expected = json!({
        "class": "wire", "kind": "removed", "reason": "a client waits for it",
        "place": "#/paths/~1plants/post/responses/200/headers/x-id", "others": [],
        "old": "{\"type\":\"string\"}, required", "new": null,
        "change": "removed: {\"type\":\"string\"}, required",
        "operations": ["POST /plants"], "accepted": null,
    });
    assert_eq!(report["changes"], json!([expected]));
    assert_eq!((&report["status"], status), (&json!(1), 1));
    assert_eq!(report["pinned"], json!({ "name": "old", "version": "20240502.0" }));
    assert_eq!(report["class"], "wire");
}

/// GitHub shows ten of a step.
#[test]
fn annotations_are_ten_at_most_and_the_last_one_says_how_many_are_left() {
    let mut new = document();
    for name in ["Plant", "NewPlant"] {
        new["components"]["schemas"][name]["properties"] = json!({});
    }
    let all = document().to_string();
    let (said, _) = compared(&all, &new.to_string(), &["--format", "github", "--fail-on", "wire"]);
    let lines: Vec<&str> = said.lines().filter(|line| line.starts_with("::")).collect();
    assert_eq!(lines.len(), 10, "{said}");
    assert!(lines[0].starts_with("::error file=old::breaks wire "), "{said}");
    let last = "::error file=old::7 more changes break a client: the log has them all";
    assert_eq!(lines[9], last, "{said}");
    let ten = ["set Plant/properties {}", "remove post/operationId", "remove get/operationId"];
    let (said, _) = edited(&ten, &["--format", "github"]);
    assert_eq!(said.matches("::breaks ").count(), 10, "{said}");
    let (said, _) =
        edited(&["remove post/operationId"], &["--format", "github", "--fail-on", "wire"]);
    assert!(said.contains("\n::warning file=old::breaks source "), "{said}");
}

/// A runner of GitHub runs a command `::` at the start of a line, and `##[` anywhere in it.
#[test]
fn names_and_values_of_documents_are_escaped() {
    let name = "a\n::error::x\r\u{1b}[31m\u{202e}##[add-mask]y 😀";
    let mut hostile = document();
    hostile["components"]["schemas"]["Plant"]["properties"][name] = json!({ "default": name });
    for (old, new, expected) in [(&hostile, &document(), 1), (&document(), &hostile, 0)] {
        let (said, status) = compared(&old.to_string(), &new.to_string(), &[]);
        assert!(said.contains(r"a\n::error::x\r\u{1b}[31m\u{202e}##\[add-mask]y 😀"), "{said}");
        assert!(said.lines().count() == 3 && status == expected, "{said}");
        assert!(!said.contains(['\r', '\u{1b}', '\u{202e}']) && !said.contains("##["), "{said}");
    }
}

#[test]
fn accepted_changes_have_no_class_and_an_entry_without_a_change_is_a_note() {
    let edit = "remove Plant/properties/tag";
    let entry = |place: &str, reason: &str| {
        let change = r#"removed: {"type":"string"}"#;
        format!("[[change]]\nplace = {place:?}\nchange = {change:?}\n{reason}\ndate = 2026-11-23\n")
    };
    let place = "#/components/schemas/Plant/properties/tag";
    let both = [entry(place, "reason = 'why'"), entry("#/a", "reason = 'why'")].concat();
    let mut new = document();
    apply(edit, &mut new);
    let files = |accepted: &str| {
        let texts = [document().to_string(), new.to_string()];
        folder(&[("old", &texts[0]), ("new", &texts[1]), ("accepted.toml", accepted)])
    };
    let arguments = ["old", "new", "--accepted", "accepted.toml"];
    let (said, status) = run(files(&both).path(), &arguments);
    assert!(said.contains("accepted       #/components/schemas/Plant/properties/tag  "), "{said}");
    assert!(said.contains("(breaks source; 2026-11-23: why"), "{said}");
    assert!(said.contains("\nnote: nothing changes any more as accepted: #/a  removed"), "{said}");
    assert!(said.ends_with("nothing changed but what is accepted\n") && status == 0, "{said}");
    for (entry, says) in [
        (entry(place, ""), "accepted.toml, line 1: missing field `reason`"),
        (
            entry(place, "reason = ' '"),
            "accepted.toml: #/components/schemas/Plant/properties/tag is ",
        ),
    ] {
        let (said, status) = run(files(&entry).path(), &arguments);
        assert!(said.contains(says) && said.lines().count() == 1 && status == 2, "{said}");
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
