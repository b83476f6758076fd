//! Documents that nobody should trust, and those that cannot be compared.

use std::fs;

use openapi_compat::Class;
use serde_json::{Value, json};

use crate::mutations::{document, judged};
use crate::program::{compared, folder, run};

/// A document whose schema S0 refers to S1, and so on, with this many references each.
fn chained(prefix: &str, schemas: usize, references: usize, last: &Value) -> String {
    let mut document = document();
    let all = document["components"]["schemas"].as_object_mut().expect("schemas");
    for number in 0..schemas {
        let next = json!({ "$ref": format!("#/components/schemas/{prefix}{}", number + 1) });
        let member = format!("a{number}");
        let schema = match references {
            1 => next,
            _ => json!({ "properties": { member: next, "b": next } }),
        };
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
    let text = json!({ "type": "string" });
    for (schemas, references) in [(40, 2), (90, 1), (40_000, 1)] {
        let one = chained("S", schemas, references, &text);
        let other = chained("T", schemas, references, &text);
        let first = json!({ "$ref": "#/components/schemas/S0" });
        let looped = chained("S", schemas, references, &first);
        let inline = document().to_string();
        for (old, new, status) in [
            (&one, &one, 0),
            (&looped, &looped, 0),
            (&one, &other, 1),
            (&inline, &looped, 0),
            (&looped, &inline, 1),
        ] {
            let (said, found) = compared(old, new, &[]);
            assert_eq!(found, status, "{}", said.lines().last().unwrap_or_default());
        }
    }
}

#[test]
fn reference_that_leads_in_a_circle_is_compared_with_a_schema_in_place_as_unknown() {
    let place = json!({ "type": "object", "properties": { "a": {} } });
    let with = |schema: Value| {
        let mut new = document();
        new["components"]["schemas"]["A"] = json!({ "$ref": "#/components/schemas/B" });
        new["components"]["schemas"]["B"] = json!({ "$ref": "#/components/schemas/A" });
        new["components"]["schemas"]["Plant"]["properties"]["c"] = schema;
        new
    };
    let report = judged(&with(place), &with(json!({ "$ref": "#/components/schemas/A" })));
    assert!(report.to_string().starts_with("breaks wire "), "{report}");
    assert!(report.to_string().contains("(not-compared: "), "{report}");
}

#[test]
fn document_that_is_too_deep_too_large_or_not_openapi_3_0_is_refused_in_one_line() {
    let deep = format!("{{\"a\": {}", "[".repeat(10_000));
    for (text, reason) in [
        (&deep[..], "recursion limit exceeded"),
        ("a: 1", "the document of old is not JSON: expected value at line 1 column 1"),
        ("# Pots\nopenapi: 3.0.3\n", "the document of old is YAML: convert it to JSON, as with "),
        // A byte order mark is no part of it.
        ("\u{feff}{}", "`openapi` is missing"),
        (
            "{\"openapi\": \"3.1.0\"}",
            "the document of old: OpenAPI 3.1.0 is not supported: OpenAPI 3.0.x is expected; compare",
        ),
        (
            "{\"swagger\": \"2.0\"}",
            "the document of old: Swagger \"2.0\" is not supported: OpenAPI ",
        ),
        ("", "openapi-compat: old is empty"),
        ("{}", "`openapi` is missing"),
        ("{\"openapi\": 3.0}", "`openapi` 3.0 is no string"),
        (
            "{\"openapi\": \"3.0.0\"}",
            "the document of old: `paths` is no object: OpenAPI 3.0.x is expected",
        ),
        (&" ".repeat((64 << 20) + 1), "has more than 67108864 bytes"),
    ] {
        let (said, status) = compared(text, &document().to_string(), &[]);
        assert!(said.contains(reason) && said.lines().count() == 1 && status == 2, "{said}");
    }
    let folder = folder(&[]);
    for (bytes, reason) in [
        (&b"\xff\xfe{\0}\0"[..], "old is UTF-16: save it as UTF-8, without a byte order mark"),
        (b"{\"a\": \"\xe4\"}", "old is no text in UTF-8: invalid utf-8 sequence"),
    ] {
        fs::write(folder.path().join("old"), bytes).expect("the folder takes files");
        let (said, status) = run(folder.path(), &["old", "old"]);
        assert!(said.contains(reason) && said.lines().count() == 1 && status == 2, "{said}");
    }
    let (said, status) = run(folder.path(), &["-", "-", "--format", "github"]);
    assert!(said.contains("standard input is empty\n") && status == 2, "{said}");
    assert!(said.contains("::error::standard input is empty"), "{said}");
}

/// What is behind such a reference is not compared.
#[test]
fn reference_out_of_the_document_is_refused_and_one_to_nowhere_allows_every_value() {
    let with = |place: &str, reference: &str| {
        let mut new = document();
        *new.pointer_mut(place).expect("a place") = json!({ "$ref": reference });
        new.to_string()
    };
    let old = document().to_string();
    let schema = "/components/schemas/Plant/properties/tag";
    let response = "/paths/~1plants/post/responses/400";
    let file = "b.json#/a";
    for (place, reference, reason) in [
        (schema, file, "the `$ref` `b.json#/a` leads out of the document: bundle the files first"),
        (
            response,
            "#/components/responses/Gone",
            "the `$ref` `#/components/responses/Gone` leads ",
        ),
        (response, "#/paths/~1plants/post/responses/400", "leads in a circle"),
    ] {
        let (said, status) = compared(&with(place, reference), &old, &[]);
        assert!(said.contains(reason) && said.lines().count() == 1 && status == 2, "{said}");
    }
    let (said, status) = compared(&old, &with(schema, "#/components/schemas/Gone"), &[]);
    assert!(said.contains("type-widened") && status == 1, "{said}");
    // A part of another place, percent-encoded, is followed.
    let part = "#/components/schemas/%50lant/properties/strict/properties/a";
    let (said, status) = compared(&with(schema, part), &old, &["--fail-on", "wire"]);
    assert!(said.contains("type-name") && status == 0, "{said}");
}

/// Some writers put `null` or a list where OpenAPI has no place for it.
#[test]
fn keyword_of_the_wrong_type_is_unknown_and_does_not_stop_the_comparison() {
    let with = |keyword: Value| {
        let mut document = document();
        document["components"]["schemas"]["Plant"]["properties"]["tag"]["items"] = keyword;
        document
    };
    let [one, other] = [json!([{}]), json!([{ "type": "string" }])].map(with);
    assert!(judged(&one, &one).changes.is_empty());
    for (old, new) in [(&one, &other), (&document(), &one), (&one, &document())] {
        let report = judged(old, new).to_string();
        assert!(
            report.contains("Plant/properties/tag/items") && report.contains("(unknown: "),
            "{report}"
        );
    }
    let mut new = one.clone();
    new["components"]["schemas"]["Plant"]["properties"] = json!({ "items": {}, "type": {} });
    assert!(judged(&one, &new).to_string().contains("properties/name  removed"));
}

/// All of them say the same, so any two belong together.
#[test]
fn hundred_equal_types_with_other_names_break_no_wire() {
    let with = |suffix: &str| {
        let mut document = document();
        let name = |number: usize| format!("Equal{number}{suffix}");
        let part = |number| json!({ "$ref": format!("#/components/schemas/{}", name(number)) });
        let parts: Vec<Value> = (0..100).map(part).collect();
        let all = document["components"]["schemas"].as_object_mut().expect("schemas");
        all.extend((0..100).map(|number| (name(number), json!({ "type": "object" }))));
        all["Shape"] = json!({ "oneOf": parts });
        document
    };
    let report = judged(&with(""), &with("_2"));
    assert_eq!(report.class(), Some(Class::Source), "{report}");
}

/// The lists of real documents have hundreds of parts.
#[test]
fn two_thousand_parts_are_matched_with_two_thousand_others() {
    let with = |range: std::ops::Range<usize>, format: &str| {
        let part = |at: usize| {
            let member = format!("member{at}");
            json!({ "type": "object", "properties": {
                member: { "type": "number", "format": format }, "all": { "type": "string" } } })
        };
        let mut parts: Vec<Value> = range.map(part).collect();
        parts.reverse();
        let mut document = document();
        document["components"]["schemas"]["Shape"] = json!({ "oneOf": parts });
        document
    };
    let old = with(0..2000, "float");
    let mut new = with(0..2000, "double");
    let parts = new["components"]["schemas"]["Shape"]["oneOf"].as_array_mut().expect("parts");
    parts.reverse();
    let report = judged(&old, &new);
    assert_eq!(report.changes.len(), 2000);
    assert!(report.changes.iter().all(|one| one.change == "number (float) → number (double)"));
}
