//! Hostile documents, and documents that cannot be compared.

use std::fs;

use openapi_compat::Class;
use serde_json::{Value, json};

use crate::mutations::{document, judged};
use crate::program::{compared, folder, run};

/// A document whose schema S0 refers to S1, S1 to S2 and so on, each with this many references.
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
    all["Book"]["properties"]["chained"] = json!({ "$ref": first });
    document.to_string()
}

/// Following each reference again would take 2^40 steps for 40 schemas. A chain of 40,000 schemas
/// would overflow the stack of a recursive search, and a cycle would never end.
#[test]
fn references_that_double_chain_or_loop_are_followed_once() {
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
            let (output, found) = compared(old, new, &[]);
            assert_eq!(found, status, "{}", output.lines().last().unwrap_or_default());
        }
    }
}

/// A callback is compared as a whole, so the targets of its references are copied into it. Copied
/// without a limit, 40 of them would have 2^40 values, and 40,000 would overflow the stack.
#[test]
fn callbacks_that_double_or_chain_are_refused() {
    for (callbacks, references) in [(40, 2), (40_000, 1)] {
        let mut new = document();
        let all = &mut new["components"]["callbacks"];
        for at in 0..callbacks {
            let next = json!({ "$ref": format!("#/components/callbacks/C{}", at + 1) });
            all[format!("C{at}")] =
                if references == 1 { next } else { json!({ "{$a}": next, "{$b}": next }) };
        }
        let made = json!({ "$ref": "#/components/callbacks/C0" });
        new["paths"]["/books"]["post"]["callbacks"] = json!({ "made": made });
        let (output, status) = compared(&document().to_string(), &new.to_string(), &[]);
        assert!(output.contains("lead to too many values"), "{output}");
        assert_eq!((output.lines().count(), status), (1, 2), "{output}");
    }
}

#[test]
fn circular_reference_is_reported_as_not_compared() {
    let inline = json!({ "type": "object", "properties": { "a": {} } });
    let with = |schema: Value| {
        let mut new = document();
        new["components"]["schemas"]["A"] = json!({ "$ref": "#/components/schemas/B" });
        new["components"]["schemas"]["B"] = json!({ "$ref": "#/components/schemas/A" });
        new["components"]["schemas"]["Book"]["properties"]["c"] = schema;
        new
    };
    let report = judged(&with(inline), &with(json!({ "$ref": "#/components/schemas/A" })));
    assert!(report.to_string().starts_with("breaks wire "), "{report}");
    assert!(report.to_string().contains("(not-compared)"), "{report}");
}

/// The paths are identical (Paths Object), so one path could hide a change of the other one.
#[test]
fn paths_that_differ_in_a_parameter_name_are_refused() {
    let mut new = document();
    let item = new["paths"]["/books/{id}/watch"].clone();
    new["paths"]["/books/{name}/watch"] = item;
    let (output, status) = compared(&document().to_string(), &new.to_string(), &[]);
    let named = "the paths /books/{id}/watch and /books/{name}/watch are one path with two names";
    assert!(output.contains(named) && output.lines().count() == 1 && status == 2, "{output}");
}

/// Each of 300 types has the next one in its `allOf`. Merged, they would have 45,000 properties.
#[test]
fn types_made_of_each_other_are_merged_up_to_a_limit() {
    let with = |types: usize, last: Value| {
        let mut document = document();
        for at in 0..types {
            let next = json!({ "$ref": format!("#/components/schemas/T{}", (at + 1) % types) });
            let own = json!({ "type": "object", "properties": { format!("m{at}"): last } });
            document["components"]["schemas"][format!("T{at}")] = json!({ "allOf": [next, own] });
        }
        document["components"]["schemas"]["Book"]["properties"]["t"] =
            json!({ "$ref": "#/components/schemas/T0" });
        document
    };
    for types in [1, 2, 300] {
        let [text, number] = ["string", "number"].map(|kind| with(types, json!({ "type": kind })));
        assert!(judged(&text, &text).changes.is_empty());
        let report = judged(&text, &number);
        assert_eq!(report.class(), Some(Class::Wire), "{report}");
    }
}

#[test]
fn unreadable_document_is_refused_in_one_line() {
    let deep = format!("{{\"a\": {}", "[".repeat(10_000));
    for (text, reason) in [
        (&deep[..], "recursion limit exceeded"),
        ("{1", "the document of old: it is not JSON: key must be a string at line 1 column 2"),
        ("a: [", "the document of old: it is not YAML: "),
        ("# Books\nopenapi: 3.1.0\n", "the document of old: OpenAPI 3.1.0 is not supported: "),
        // Parsers disagree about which of the two members counts (RFC 8259, section 4).
        ("{\"a\": {\"b\": 1, \"b\": 1}}", "the key `b` is duplicated at line 1 column 18"),
        ("a:\n  200: 1\n  '200': 2\n", "the key `200` is duplicated at line 2, column 3"),
        ("a:\n  ~: 1\n", "a key is null: write a name, or quote it at line 2, column 3"),
        // A byte order mark is ignored.
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
        ("{\"openapi\": 3.0}", "`openapi` 3.0 is not a string"),
        (
            "{\"openapi\": \"3.0.0\"}",
            "the document of old: `paths` is not an object: OpenAPI 3.0.x is expected",
        ),
        (&" ".repeat((16 << 20) + 1), "is larger than 16777216 bytes"),
    ] {
        let (output, status) = compared(text, &document().to_string(), &[]);
        assert!(output.contains(reason) && output.lines().count() == 1 && status == 2, "{output}");
    }
    let folder = folder(&[]);
    for (bytes, reason) in [
        (&b"\xff\xfe{\0}\0"[..], "old is not UTF-8 text: invalid utf-8 sequence"),
        (b"{\"a\": \"\xe4\"}", "old is not UTF-8 text: invalid utf-8 sequence"),
    ] {
        fs::write(folder.path().join("old"), bytes).expect("the folder takes files");
        let (output, status) = run(folder.path(), &["old", "old"]);
        assert!(output.contains(reason) && output.lines().count() == 1 && status == 2, "{output}");
    }
    let (output, status) = run(folder.path(), &["-", "-", "--format", "github"]);
    assert!(output.contains("stdin is empty\n") && status == 2, "{output}");
    assert!(output.contains("::error::stdin is empty"), "{output}");
}

/// The check reads no other files, so it could not compare the target.
#[test]
fn reference_into_another_file_is_refused() {
    let with = |place: &str, reference: &str| {
        let mut new = document();
        *new.pointer_mut(place).expect("a place") = json!({ "$ref": reference });
        new.to_string()
    };
    let old = document().to_string();
    let schema = "/components/schemas/Book/properties/tag";
    let response = "/paths/~1books/post/responses/400";
    let file = "b.json#/a";
    for (place, reference, reason) in [
        (schema, file, "the `$ref` `b.json#/a` leads out of the document: bundle the files first"),
        (
            response,
            "#/components/responses/Gone",
            "the `$ref` `#/components/responses/Gone` leads ",
        ),
        (response, "#/paths/~1books/post/responses/400", "leads in a circle"),
    ] {
        let (output, status) = compared(&with(place, reference), &old, &[]);
        assert!(output.contains(reason) && output.lines().count() == 1 && status == 2, "{output}");
    }
    let (output, status) = compared(&old, &with(schema, "#/components/schemas/Gone"), &[]);
    assert!(output.contains("type-widened") && status == 1, "{output}");
    // A percent-encoded reference into another type is followed. Its target has no name.
    let part = "#/components/schemas/%42ook/properties/strict/properties/a";
    let (output, status) = compared(&with(schema, part), &old, &[]);
    assert!(output.contains("words only") && status == 0, "{output}");
}

/// Some documents have null or an array where OpenAPI does not allow it.
#[test]
fn keyword_of_the_wrong_type_is_unknown() {
    let with = |keyword: Value| {
        let mut document = document();
        document["components"]["schemas"]["Book"]["properties"]["tag"]["items"] = keyword;
        document
    };
    let [one, other] = [json!([{}]), json!([{ "type": "string" }])].map(with);
    assert!(judged(&one, &one).changes.is_empty());
    for (old, new) in [(&one, &other), (&document(), &one), (&one, &document())] {
        let report = judged(old, new).to_string();
        assert!(report.contains("  Book.tag") && report.contains("(unknown)"), "{report}");
    }
    let mut new = one.clone();
    new["components"]["schemas"]["Book"]["properties"] = json!({ "items": {}, "type": {} });
    assert!(judged(&one, &new).to_string().contains("  Book.name  removed"));
}

/// All types are equal, so any two of them could be paired.
#[test]
fn renaming_a_hundred_equal_types_breaks_no_wire() {
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

/// Real documents have hundreds of schemas in one `oneOf`.
#[test]
fn two_thousand_parts_find_their_partners() {
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
