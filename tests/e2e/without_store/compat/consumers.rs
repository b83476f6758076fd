//! What the program of consumers says: changes, levels, formats and escapes.

use serde_json::{Value, json};

use super::program::{compared, edited};
use super::{BREAK, document, mutated};

/// A runner of GitHub runs a command `::` at the start of a line, and `##[` anywhere in it.
#[test]
fn names_and_values_are_escaped() {
    let name = "a\n::error::x\r\u{1b}[31m\u{202e}##[add-mask]y 😀";
    let mut hostile = document();
    hostile["components"]["schemas"]["Plant"]["properties"][name] = json!({ "title": name });
    for (old, new, expected) in [(&hostile, &document(), 1), (&document(), &hostile, 0)] {
        let (said, status) = compared(&old.to_string(), &new.to_string(), &[]);
        assert!(said.contains(r"a\n::error::x\r\u{1b}[31m\u{202e}##\[add-mask]y 😀"), "{said}");
        assert!(said.lines().count() == 3 && status == expected, "{said}");
        assert!(!said.contains(['\r', '\u{1b}', '\u{202e}']) && !said.contains("##["), "{said}");
    }
    let version = mutated(&[r#"set /info/version "1\n::error::x\u001b""#]).to_string();
    let (refusal, status) = compared(&version, &version, &["--format", "github"]);
    assert!(refusal.contains(r"info.version 1\n::error::x\u{1b} is no semantic"), "{refusal}");
    assert!(refusal.lines().count() == 2 && status == 2, "{refusal}");
}

#[test]
fn a_change_shows_both_values_its_rule_and_its_reason() {
    let any_of = r##"set NewPlant {"anyOf": [{"$ref": "#/components/schemas/Plant"}]}"##;
    let id = "NewPlant/properties/id";
    for (old, edit, shown) in [
        (
            "",
            &format!(r#"set {id}/type "string""#)[..],
            "integer → string  (type-changed: a value of ",
        ),
        ("", &format!(r#"set {id}/format "7""#), r#"/id/format  int64 → "7"  ("#),
        ("", &format!("remove {id}/format"), "/id/format  removed: int64  (request-wider: each "),
        (
            "",
            &format!("set {id}/maximum 7"),
            "/id/maximum  added: 7  (request-narrower: a request ",
        ),
        (
            "",
            "set Plant/properties/a {}",
            "/properties/a  added: {}  (member-promised: objects are open",
        ),
        ("", r#"set Plant/properties/tag/description "A.""#, "… (1c165b0f5f51) → A.  (text: it is"),
        (
            "",
            r#"set Plant/properties/tag/pattern "a""#,
            "breaks source  #/components/schemas/Plant/",
        ),
        (
            any_of,
            "set Plant/properties/a {}",
            "code; #/components/schemas/NewPlant uses it in a composition)",
        ),
    ] {
        let old: Vec<&str> = [old].into_iter().filter(|edit| !edit.is_empty()).collect();
        let (said, _) = edited(&old, &[&old[..], &[edit]].concat(), &[]);
        assert!(said.contains(shown), "{edit}:\n{said}");
    }
}

#[test]
fn the_exit_status_is_that_of_the_level() {
    let changes = ["remove post", "remove post/operationId", "set /x-a 1", "set /info/title \"A\""];
    for (flags, statuses) in [
        (&[][..], [1, 1, 0, 0]),
        (&["--level", "wire"], [1, 0, 0, 0]),
        (&["--fail-on", "wire"], [1, 0, 0, 0]),
        (&["--fail-on", "source"], [1, 1, 0, 0]),
        (&["--fail-on", "additive"], [1, 1, 1, 0]),
        (&["--fail-on", "words"], [1, 1, 1, 1]),
    ] {
        assert_eq!(changes.map(|edit| edited(&[], &[edit], flags).1), statuses, "{flags:?}");
        assert_eq!(edited(&[], &[], flags).1, 0);
    }
}

/// Else a person who reads the last line would look for a break.
#[test]
fn a_failure_without_a_break_says_that_the_flag_is_the_reason() {
    let words = r#"set /info/title "A""#;
    let reason = "nothing that changed breaks a client, but it fails because of `--fail-on";
    for (edit, class) in [("set /x-a 1", "additive"), ("set /x-a 1", "words"), (words, "words")] {
        let line = format!("{reason} {class}`\n");
        for format in ["text", "markdown"] {
            let (said, status) = edited(&[], &[edit], &["--fail-on", class, "--format", format]);
            assert!(said.ends_with(&line) && status == 1, "{said}");
        }
        let (annotated, _) = edited(&[], &[edit], &["--fail-on", class, "--format", "github"]);
        assert!(annotated.contains(&format!("\n{line}")), "{annotated}");
        assert!(annotated.ends_with(&format!("\n::error::{line}")), "{annotated}");
    }
    for (edits, class) in [(&["set /x-a 1"][..], "source"), (&["remove post"], "additive")] {
        let (said, _) = edited(&[], edits, &["--fail-on", class, "--format", "github"]);
        assert!(!said.contains("--fail-on"), "{said}");
    }
}

#[test]
fn a_changelog_for_consumers_is_in_markdown() {
    let edits = ["remove post/operationId", "set Plant/properties/a`<b>|c {}", BREAK];
    let (said, status) = edited(&[], &edits, &["--format", "markdown"]);
    let plant = "#/components/schemas/Plant/properties";
    let expected = format!(
        "# 1.0.0, since 1.0.0\n\n## Breaks a client that runs\n\n\
         - `{plant}/tag removed: {{\"description\":\"Tag that speci… (ad8a7c2b1dda)`: a client \
         may send it, or wait for it (`member-removed`)\n\n\
         ## Breaks code that is compiled against a client generated anew\n\n\
         - `#/paths/~1plants/post/operationId removed: create_plant`: generated functions have its \
         name (`operation-name`)\n\n\
         ## Is new, and breaks nothing\n\n\
         - `{plant}/a'<b>|c added: {{}}`: objects are open, and a client ignores members that it \
         does not know (`member-promised`)\n\n\
         what changed breaks a client that runs: see `breaks wire`\n"
    );
    assert_eq!((said, status), (expected, 1));
}

#[test]
fn swapped_documents_are_named() {
    let one = r#"set /info/version "1.0.0""#;
    let two = r#"set /info/version "2.0.0""#;
    let (said, status) = edited(&[two], &[one], &["--format", "github"]);
    assert!(said.contains("\nthe second document is the older one: if the two are swapped, "));
    assert!(said.contains("\n::error::the second document is the older one") && status == 2);
    assert_eq!(edited(&[one], &[two], &[]).1, 0);
}

/// The pinned file is the one that a consumer has: what the other document adds has the line of
/// what is around it.
#[test]
fn changes_have_the_lines_of_the_pinned_document() {
    let json = r##"
{
  "openapi": "3.0.3", "info": {"title": "Pots", "version": "1.0.0"},
  "paths": {
    "/pots": {"get": {
      "tags": ["a", "50%"], "parameters": [{"$ref": "#/components/parameters/a"}],
      "responses": {"200": {"description": "All", "content": {
        "application/json": {"schema": {"type": "array", "maxItems": 10}}}}}
    }}
  },
  "components": {"parameters": {"a": {"name": "~/", "in": "query", "schema": {}}}}
}"##;
    let mut published: Value = serde_json::from_str(json).expect("JSON");
    let get = &mut published["paths"]["/pots"]["get"];
    get["tags"] = json!(["a"]);
    let schema = &mut get["responses"]["200"]["content"]["application/json"]["schema"];
    schema["maxItems"] = json!(11);
    schema["nullable"] = json!(true);
    let flags = ["--format", "github", "--fail-on", "wire"];
    let (said, status) = compared(json, &published.to_string(), &flags);
    assert_eq!(status, 1, "{said}");
    for (annotation, message) in [
        ("::error file=pinned,line=8,col=70::breaks wire ", "schema/maxItems  10 → 11"),
        ("::error file=pinned,line=8,col=40::breaks wire ", "schema/nullable  added: true"),
        ("::warning file=pinned,line=6,col=21::breaks source ", "tags/50%25  removed: 50%25"),
    ] {
        let is_there = |line: &str| line.starts_with(annotation) && line.contains(message);
        assert!(said.lines().any(is_there), "{annotation}{message}\n{said}");
    }

    let (printed, _) = compared(json, &published.to_string(), &["--format", "json"]);
    let report: Value = serde_json::from_str(&printed).expect("it prints JSON");
    let place = "#/paths/~1pots/get/responses/200/content/application~1json/schema/maxItems";
    let expected = json!({
        "class": "wire", "place": place, "kind": "changed", "rule": "response-wider",
        "change": "10 → 11",
        "reason": "a response may be one that no client expects", "old": 10, "new": 11,
        "accepted": null, "line": 8, "column": 70,
    });
    let changes = report["changes"].as_array().expect("changes");
    assert_eq!(changes.iter().find(|change| change["place"] == place), Some(&expected));
    assert_eq!((&report["class"], &report["status"]), (&json!("wire"), &json!(1)));
    assert_eq!(report["pinned"], json!({"name": "pinned", "version": "1.0.0"}));
}
