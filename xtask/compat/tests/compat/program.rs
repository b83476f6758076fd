//! Runs the program as a consumer does, and checks its output and its exit code.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::mutations::{apply, document, rows};

/// Runs the program. Returns what it prints to both streams, and its exit code.
pub fn run(folder: &Path, arguments: &[&str]) -> (String, i32) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_openapi-compat"));
    let command = command.args(arguments).current_dir(folder).stdin(Stdio::null());
    let output = command.output().expect("the program starts");
    let status = output.status.code().expect("no signal ends it");
    (
        String::from_utf8([output.stdout, output.stderr].concat()).expect("the output is UTF-8"),
        status,
    )
}

/// Creates a folder with these files.
pub fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().expect("a folder");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("the folder takes files");
    }
    folder
}

/// Runs the program on two texts.
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

/// The lines of the output without the advice about accepted changes.
fn lines(output: &str) -> Vec<&str> {
    output.lines().take_while(|line| !line.starts_with("to accept")).collect()
}

#[test]
fn text_lists_every_change_and_every_reason_once() {
    let edits =
        ["set Book/properties/new {}", "remove post/operationId", "remove Book/properties/name"];
    let (output, status) = edited(&edits, &[]);
    let expected = "\
20240502.0 of new, since 20240502.0 of old: the changes break running clients
breaks wire    GET /books +1  Book.name  removed: string, required  (removed)
breaks source  POST /books  operationId  removed: create  (operation-id)
additive       GET /books +1  Book.new  added: {}  (added)
  added: objects and headers are open, and a client ignores new ones
  operation-id: generated functions are named after it
  removed: a client expects it
the changes break running clients";
    assert_eq!((&lines(&output).join("\n")[..], status), (expected, 1));
    let (output, status) = edited(&[], &[]);
    let expected = "20240502.0 of new, since 20240502.0 of old: nothing changed\n";
    assert_eq!((&output[..], status), (expected, 0));
    let (output, status) = edited(&[r#"set post/summary "New""#], &[]);
    let expected = "words only     no operation  text or spelling  (text)";
    assert_eq!((lines(&output)[1], status), (expected, 0));
}

/// Equal changes of all operations or of all statuses are one line.
#[test]
fn equal_changes_of_operations_and_statuses_are_one_line() {
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
    let (output, status) = compared(&paths("a", 9), &paths("b", 9), &[]);
    let removed = "breaks source  GET /0 +8  200.a +1  removed: {}  (optional-removed)";
    assert_eq!((lines(&output)[1], status), (removed, 1), "{output}");
}

/// The rows of `lines.txt`: edits, and a part of the output.
#[test]
fn changes_are_printed_for_people() {
    for row in rows(include_str!("lines.txt")) {
        let [old, new] = row.documents(&document()).map(|document| document.to_string());
        let (output, _) = compared(&old, &new, &[]);
        assert!(output.contains(row.expected), "{}: {output}", row.expected);
    }
}

#[test]
fn long_name_is_cut() {
    let edit = format!("set Book/properties/{} {{}}", "n".repeat(300));
    let (output, _) = edited(&[&edit], &[]);
    assert!(lines(&output)[1].chars().count() < 130, "{output}");
}

#[test]
fn fail_on_decides_the_exit_code() {
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
    let (output, _) = edited(&["remove post/operationId"], &[]);
    assert!(lines(&output).last().expect("a line").ends_with("a regenerated client"), "{output}");
    let (output, _) = edited(&["set /x-a 1"], &["--fail-on", "additive"]);
    let conclusion = "no change breaks a client, but `--fail-on` makes the check fail";
    assert_eq!(lines(&output).last(), Some(&conclusion), "{output}");
    let (output, _) = edited(&["set /x-a 1"], &["--fail-on", "additive", "--format", "github"]);
    assert!(output.contains("\n::error file=old::no change breaks a client, but"), "{output}");
}

#[test]
fn json_contains_every_place_and_operation() {
    let edit = "remove post/responses/200/headers/X-Id";
    let (output, status) = edited(&[edit], &["--format", "json"]);
    let report: Value = serde_json::from_str(&output).expect("it prints JSON");
    let expected = json!({
        "class": "wire", "kind": "removed", "reason": "a client expects it",
        "places": ["200 headers X-Id"], "change": "removed: string, required",
        "operations": ["POST /books"], "accepted": null,
    });
    assert_eq!(report["changes"], json!([expected]));
    assert_eq!((&report["status"], status), (&json!(1), 1));
    assert_eq!(report["pinned"], json!({ "name": "old", "version": "20240502.0" }));
    assert_eq!(report["class"], "wire");
}

/// GitHub shows at most ten annotations for a step.
#[test]
fn first_ten_breaking_changes_are_annotated() {
    let all = ["set Book/properties {}", "set NewBook/properties {}", "remove post/operationId"];
    let (output, _) = edited(&all, &["--format", "github"]);
    assert_eq!(output.matches("\n::error file=old::breaks ").count(), 10, "{output}");
    assert_eq!(output.matches("\n::").count(), 10, "{output}");
    let (output, _) = edited(&all[2..], &["--format", "github", "--fail-on", "wire"]);
    assert!(output.contains("\n::warning file=old::breaks source "), "{output}");
}

/// The same document in both formats, with values that are strings in YAML 1.2.
#[test]
fn yaml_and_json_mean_the_same() {
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
    let (output, status) = compared(yaml, &json.to_string(), &[]);
    assert!(output.contains("nothing changed\n") && status == 0, "{output}");
}

/// GitHub's runner runs the command `::` at the start of a line, and `##[` anywhere in a line.
#[test]
fn names_and_values_of_documents_are_escaped() {
    let name = "a\n::error::x\r\u{1b}[31m\u{202e}##[add-mask]y 😀";
    let mut hostile = document();
    hostile["components"]["schemas"]["Book"]["properties"][name] =
        json!({ "type": "string", "enum": [name] });
    for (old, new, expected) in [(&hostile, &document(), 1), (&document(), &hostile, 0)] {
        let (output, status) = compared(&old.to_string(), &new.to_string(), &[]);
        assert!(output.contains(r"  Book.a\n::error::x\r\u{"), "{output}");
        assert!(output.contains(r#"string "a\n::error::x\r\u001b[31m\u{202e}##\[ad…"#), "{output}");
        assert!(lines(&output).len() == 4 && status == expected, "{output}");
        assert!(
            !output.contains(['\r', '\u{1b}', '\u{202e}']) && !output.contains("##["),
            "{output}"
        );
    }
}

#[test]
fn accepted_lines_of_the_output_do_not_count() {
    let hostile = "a\n\u{202e}##[x]\\\"😀) # y";
    let mut old = document();
    old["components"]["schemas"]["Book"]["properties"][hostile] = json!({ "type": "string" });
    let mut new = document();
    apply("remove Book/properties/tag", &mut new);
    apply(r#"set NewBook/properties/name/pattern "^a) # $""#, &mut new);
    let texts = [old.to_string(), new.to_string()];
    let arguments = ["old", "new", "--accepted", "accepted"];
    let run = |accepted: &str| {
        let files = [("old", &texts[0][..]), ("new", &texts[1]), ("accepted", accepted)];
        run(folder(&files).path(), &arguments)
    };
    let (output, status) = run("");
    let breaks: Vec<&str> = output.lines().filter(|line| line.starts_with("breaks ")).collect();
    assert!(breaks.len() == 3 && status == 1, "{output}");
    let advice = "to accept a change, add its line to a file, with a reason behind ` # `\n";
    assert!(output.ends_with(advice), "{output}");

    let all = breaks.join("  # why\n") + "  # agreed (in May) #4\n";
    let (output, status) = run(&format!("# Decided in May\n\n{all}"));
    assert!(output.contains(": nothing changed except what is accepted\n"), "{output}");
    assert!(!output.contains("note: ") && status == 0, "{output}");
    let line = "\naccepted: breaks source  GET /books +1  Book.tag  removed: string  ";
    assert!(output.contains(line) && output.contains("(optional-removed) # why\n"), "{output}");

    let stale = all.replace("removed: string", "removed: number");
    let (output, status) = run(&stale);
    assert!(
        output.contains("\nnote: line 2 of accepted accepts no change: remove it\n"),
        "{output}"
    );
    assert_eq!(status, 1);
    for reason in ["", " #", " # "] {
        let (output, status) = run(&format!("{}{reason}\n", breaks[2]));
        let says = "accepted, line 1: a change is accepted without a reason: write it behind ` # `";
        assert!(output.contains(says) && output.lines().count() == 1 && status == 2, "{output}");
    }
    let (output, status) = edited(&[], &["--accepted", "nowhere"]);
    assert!(output.contains("cannot read nowhere") && status == 2, "{output}");
}

#[test]
fn change_needs_the_version_of_its_class() {
    for (old, edits, least, enough, too_small) in [
        ("1.2.3+5", &["remove post/operationId"][..], "2.0.0", "2.0.0 2.0.0-rc.1", "1.9.9 1.3.0"),
        ("1.2.3+5", &["set /x-a 1"], "1.3.0", "1.3.0 1.3.0-rc.1 2.0.0", "1.2.3 1.2.4 1.2.9-rc.1"),
        (
            "1.2.3+5",
            &["remove post/summary"],
            "1.2.3",
            "1.2.3 1.2.4 1.2.4-rc.1",
            "1.2.2 1.2.3-rc.1",
        ),
        ("1.2.3+5", &[], "1.2.3", "1.2.3 1.2.3+7 1.2.4 2.0.0", "1.2.2 1.1.9 0.9.0"),
        // The most severe class decides.
        ("1.2.3", &["set /x-a 1", "remove post"], "2.0.0", "2.0.0", "1.3.0"),
        // A pre-release promises nothing (Semantic Versioning 2.0.0, section 9), and precedes its
        // release (section 11).
        ("1.1.0-rc.1", &["remove post"], "1.1.0-rc.1", "1.1.0-rc.1 1.1.0-rc.2 1.1.0", "1.0.9"),
    ] {
        for (versions, expected) in [(enough, 0), (too_small, 1)] {
            for version in versions.split(' ') {
                let mut documents = [document(), document()];
                for edit in edits {
                    apply(edit, &mut documents[1]);
                }
                for (document, version) in documents.iter_mut().zip([old, version]) {
                    document["info"]["version"] = json!(version);
                }
                let [old, new] = documents.map(|document| document.to_string());
                let (output, status) = compared(&old, &new, &["--semver"]);
                assert_eq!(status, expected, "{edits:?} as {version}: {output}");
                let needed = format!(": info.version must be {least} or larger\n");
                assert_eq!(output.contains(&needed), expected == 1, "{output}");
            }
        }
    }
}

#[test]
fn version_alone_is_reported_and_must_be_semantic() {
    let mut new = document();
    apply(r#"set /info/version "2.0.0""#, &mut new);
    let texts = [document().to_string(), new.to_string()];
    let (output, status) = compared(&texts[0], &texts[1], &[]);
    let says = "2.0.0 of new, since 20240502.0 of old: nothing changed except the version\n";
    assert_eq!((&output[..], status), (says, 0));
    let (output, status) = compared(&texts[0], &texts[1], &["--semver"]);
    let says = "openapi-compat: info.version 20240502.0 of old is not a semantic version";
    assert!(output.starts_with(says) && status == 2, "{output}");
}

/// GitHub has no file for stdin.
#[test]
fn annotation_about_stdin_names_no_file() {
    let mut new = document();
    apply("remove post", &mut new);
    let folder = folder(&[("old", &document().to_string()), ("new", &new.to_string())]);
    let program = env!("CARGO_BIN_EXE_openapi-compat");
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{program} - new --format github < old")]);
    let output = command.current_dir(folder.path()).output().expect("a shell");
    let output = String::from_utf8(output.stdout).expect("the output is UTF-8");
    assert!(output.contains("\n::error::breaks wire "), "{output}");
}

#[test]
fn full_or_closed_stdout_is_exit_code_2() {
    let text = document().to_string();
    let folder = folder(&[("old", &text)]);
    let full = File::options().write(true).open("/dev/full").expect("Linux has it");
    let mut command = Command::new(env!("CARGO_BIN_EXE_openapi-compat"));
    command.args(["old", "old"]).current_dir(folder.path());
    let output = command.stdout(full).output().expect("the program starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.starts_with("openapi-compat: cannot print the result: No space"), "{stderr}");

    let mut command = Command::new("sh");
    let closed = format!("{} old old >&- 2>&-", env!("CARGO_BIN_EXE_openapi-compat"));
    let output = command.args(["-c", &closed]).current_dir(folder.path()).status();
    let status = output.expect("a shell").code();
    assert!(matches!(status, Some(0 | 2)), "{status:?}");
}
