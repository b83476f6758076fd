//! The program of consumers, on documents that it does not trust.

use std::fs;

use serde_json::{Value, json};

use super::document;
use super::program::{compared, edited, folder, run};

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
