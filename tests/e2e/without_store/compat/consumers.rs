//! The program of consumers, `plant-store-compat`, on documents that it does not trust.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use plant_store_launcher::build;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{BREAK, document, mutated};

/// What the program prints on both streams, and its exit status.
fn run(folder: &Path, arguments: &[&str]) -> (String, i32) {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    let program =
        PROGRAM.get_or_init(|| build("plant-store-compat", false).expect("the program builds"));
    let mut command = Command::new(program);
    let command = command.args(arguments).current_dir(folder).stdin(Stdio::null());
    let output = command.output().expect("the program starts");
    let said = [output.stdout, output.stderr].concat();
    let status = output.status.code().expect("no signal ends it");
    (String::from_utf8(said).expect("the output is UTF-8"), status)
}

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().expect("a folder");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("the folder takes files");
    }
    folder
}

/// What the program says about two documents, given by their texts.
fn compared(pinned: &str, published: &str, flags: &[&str]) -> (String, i32) {
    let folder = folder(&[("pinned", pinned), ("published", published)]);
    run(folder.path(), &[&["pinned", "published"], flags].concat())
}

/// The same, given by edits of the published document.
fn edited(old: &[&str], new: &[&str], flags: &[&str]) -> (String, i32) {
    compared(&mutated(old).to_string(), &mutated(new).to_string(), flags)
}

/// A document whose schema S0 refers to S1, and so on, with this many references each.
fn chained(prefix: &str, schemas: usize, references: usize, last: &Value) -> String {
    let mut document = document();
    let all = document["components"]["schemas"].as_object_mut().expect("schemas");
    for number in 0..schemas {
        let next = json!({ "$ref": format!("#/components/schemas/{prefix}{}", number + 1) });
        let schema = if references == 1 { next } else { json!({"allOf": vec![next; references]}) };
        all.insert(format!("{prefix}{number}"), schema);
    }
    all.insert(format!("{prefix}{schemas}"), last.clone());
    let first = format!("#/components/schemas/{prefix}0");
    all["Plant"]["properties"]["chained"] = json!({ "$ref": first });
    document.to_string()
}

/// Followed again and again, 40 schemas would be 2^40 steps. Followed to its end, a chain of 40,000
/// needs more than a stack, and a loop has no end.
#[test]
fn references_that_are_doubled_chained_or_looped_are_followed_once_each() {
    let text = json!({"type": "string"});
    for (schemas, references) in [(40, 2), (90, 1), (40_000, 1)] {
        let one = chained("S", schemas, references, &text);
        let other = chained("T", schemas, references, &text);
        let first = json!({"$ref": "#/components/schemas/S0"});
        let looped = chained("S", schemas, references, &first);
        for (old, new, status) in [(&one, &one, 0), (&looped, &looped, 0), (&one, &other, 1)] {
            let (said, found) = compared(old, new, &[]);
            assert_eq!(found, status, "{}", said.lines().last().unwrap_or_default());
        }
    }
}

#[test]
fn a_document_that_is_too_deep_too_large_or_no_json_is_refused() {
    let deep_json = format!("{{\"a\": {}", "[".repeat(100_000));
    for (text, reason) in [
        (&deep_json[..], "recursion limit exceeded"),
        ("{\"a\": [{\"b\": 1,\n\"b\": 1}]}", "the member \"b\" is there twice at line 2 "),
        ("a: 1", "the document of pinned is not JSON: expected value at line 1 column 1"),
        (
            "# Pots\nopenapi: 3.0.3\n",
            "the document of pinned is YAML: convert it to JSON, as with `yq --output-format json`",
        ),
        (
            "\u{feff}{}",
            "the document of pinned begins with a byte order mark: save it as UTF-8 without one",
        ),
        (
            "{\"openapi\": \"3.1.0\"}",
            "the document of pinned: OpenAPI 3.1.0 is not supported: OpenAPI 3.0.x is expected; \
             convert it to OpenAPI 3.0, or compare the documents with oasdiff",
        ),
        ("", "plant-store-compat: pinned is empty"),
        (" \n", "plant-store-compat: pinned is empty"),
        ("{}", "`openapi` is missing"),
        ("{\"openapi\": 3.0}", "`openapi` 3.0 is no string: write it in quotation marks"),
        (&" ".repeat((16 << 20) + 1), "has more than 16777216 bytes"),
    ] {
        let (said, status) = compared(text, &document().to_string(), &[]);
        assert!(said.contains(reason) && said.lines().count() == 1 && status == 2, "{said}");
    }
}

/// PowerShell writes UTF-16 if it redirects what a program prints.
#[test]
fn a_document_that_is_no_text_in_utf_8_is_named() {
    let folder = folder(&[]);
    for (bytes, reason) in [
        (&b"\xff\xfe{\0}\0"[..], "pinned is UTF-16: save it as UTF-8, without a byte order mark"),
        (b"\xfe\xff\0{\0}", "pinned is UTF-16: save it as UTF-8, without a byte order mark"),
        (b"{\"a\": \"\xe4\"}", "pinned is no text in UTF-8: invalid utf-8 sequence"),
    ] {
        fs::write(folder.path().join("pinned"), bytes).expect("the folder takes files");
        let (said, status) = run(folder.path(), &["pinned"]);
        assert!(said.contains(reason) && said.lines().count() == 1 && status == 2, "{said}");
    }
}

/// What is behind such a reference is not compared, or compared as an extension, which breaks
/// nothing.
#[test]
fn a_reference_that_is_not_followed_is_refused() {
    let targets = [r#"set /x-defs {"Plant": {}}"#, "set /components/x-plant {}"];
    for (reference, reason) in [
        ("#/x-defs/Plant", "`#/x-defs/Plant` is not followed: only `#/components/...` and "),
        ("#/components/x-plant", "`#/components/x-plant` is not followed: only "),
        ("http://localhost/a.json#/a", "`http://localhost/a.json#/a` is not followed: only "),
        (r"a\n::error::x\u001b", r"`a\n::error::x\u{1b}` is not followed: only "),
        ("#/components/schemas/Gone", "`#/components/schemas/Gone` leads nowhere"),
    ] {
        for place in ["Plant", "/paths/~1pots"] {
            let edit = format!(r#"set {place} {{"$ref": "{reference}"}}"#);
            let (said, status) = edited(&[targets[0], targets[1], &edit], &[], &[]);
            assert!(said.contains(&format!("the `$ref` {reason}")) && status == 2, "{said}");
            assert_eq!(said.lines().count(), 1, "{said}");
        }
    }
    let followed = [r##"set /paths/~1pots {"$ref": "#/paths/~1plants"}"##];
    assert_eq!(edited(&followed, &followed, &[]).1, 0);
}

/// A download that fails leaves nothing for the other end of a pipe.
#[test]
fn a_standard_input_that_is_empty_is_named() {
    let folder = folder(&[("pinned", &document().to_string())]);
    for arguments in [&["-"][..], &["pinned", "-"]] {
        let (said, status) = run(folder.path(), arguments);
        assert_eq!((&said[..], status), ("plant-store-compat: standard input is empty\n", 2));
    }
}

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
